package config

// Secret is a value that must not be seen. It prints as a placeholder everywhere; Reveal gives the value to the one
// place that needs it.
type Secret string

const hidden = "[secret]"

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString keeps %#v from showing the value.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// MarshalYAML keeps the value out of printed configurations.
func (s Secret) MarshalYAML() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON keeps the value out of printed configurations.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// Reveal returns the value.
func (s Secret) Reveal() string { return string(s) }
