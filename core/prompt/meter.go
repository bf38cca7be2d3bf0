package prompt

import (
	"sync"

	"bellhop/core"
	"bellhop/core/provider"
)

const (
	bytesPerToken  = 4
	messageTokens  = 4    // what roles and separators cost
	pictureTokens  = 1000 // of one picture; endpoints differ widely
	maxMeterModels = 256
)

// Tokens estimates the size of a request: four bytes a token. Arguments and schemas count, pictures count as fixed.
func Tokens(r provider.Request) int {
	bytes, tokens := len(r.System), messageTokens
	for i := range r.Messages {
		m := &r.Messages[i]
		bytes += len(m.Text) + len(m.Reasoning) + len(m.CallID)
		tokens += messageTokens + pictureTokens*len(m.Images)
		for _, c := range m.Calls {
			bytes += len(c.ID) + len(c.Name) + len(c.Args)
		}
	}
	for _, t := range r.Tools {
		bytes += len(t.Name) + len(t.About) + len(t.Schema)
		tokens += messageTokens
	}
	return tokens + (bytes+bytesPerToken-1)/bytesPerToken
}

// Meter calibrates the estimate with what providers count: text in some languages has one byte and a half a token. The
// zero value is ready. Safe for concurrent use.
type Meter struct {
	mu    sync.Mutex
	ratio map[string]float64 // counted / estimated, by model
}

// Tokens estimates the size of a request for its model.
func (m *Meter) Tokens(r provider.Request) int {
	m.mu.Lock()
	f, ok := m.ratio[r.Model]
	m.mu.Unlock()
	if !ok {
		return Tokens(r)
	}
	return int(f*float64(Tokens(r)) + 0.5)
}

// Learn takes what the provider counted for r. Estimated usage, and none, teach nothing. Growth counts at once, because an
// estimate that is too low costs a refused call; a fall is taken over slowly.
func (m *Meter) Learn(r provider.Request, u core.Usage) {
	if u.Estimated || u.Input <= 0 {
		return
	}
	f := min(max(float64(u.Input)/float64(Tokens(r)), 0.25), 4)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ratio == nil {
		m.ratio = make(map[string]float64)
	}
	if old, ok := m.ratio[r.Model]; ok && f < old {
		f = old + (f-old)/4
	}
	if _, ok := m.ratio[r.Model]; !ok && len(m.ratio) >= maxMeterModels {
		clear(m.ratio)
	}
	m.ratio[r.Model] = f
}
