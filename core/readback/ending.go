package readback

import (
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// ending is the row that finishes the live message which a turn that does not go on left behind: as a final of what the
// turn is known to have said, and of words, it loses the look of something that still grows. nil: no message is there.
func (f file) ending(row core.Admission, words string) *core.Delivery {
	d := f.left(row)
	if d == nil {
		return nil
	}
	if d.State == core.DeliveryMoved { // its row is over
		d.ID, d.Created = newDeliveryID(), time.Now()
	}
	d.Admission, d.Turn, d.Kind, d.State = row.ID, row.Turn, core.DeliverFinal, core.DeliveryOwed
	d.Text, d.LiveUntil, d.NotBefore, d.Done = f.spoken(words), time.Time{}, time.Time{}, time.Time{}
	return d
}

// left is the newest live message without a final, reduced to what certainly is there.
func (f file) left(row core.Admission) *core.Delivery {
	var found *core.Delivery
	for _, d := range f.deliveries {
		switch {
		case d.Kind == core.DeliverFinal && d.Admission == row.ID:
			return nil
		case d.Kind == core.DeliverPreview && d.Admission == row.ID && (found == nil || d.State != core.DeliveryMoved):
			found = &d
		}
	}
	if found == nil {
		return nil
	}
	found.Parts = slices.DeleteFunc(slices.Clone(found.Parts), func(p core.Part) bool { return p.Ref == "" })
	if len(found.Parts) == 0 {
		return nil
	}
	return found
}

// spoken is what the model said to the person so far, followed by words.
func (f file) spoken(words string) string {
	var said []string
	for _, m := range f.said {
		if m.Role == core.RoleAssistant && !m.Synthetic && strings.TrimSpace(m.Content) != "" {
			said = append(said, strings.TrimSpace(m.Content))
		}
	}
	if words != "" {
		said = append(said, words)
	}
	return strings.Join(said, "\n\n")
}
