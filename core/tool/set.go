package tool

import "slices"

// Set is the tools of a gateway. It does not change once made; safe for concurrent use.
type Set struct {
	order  []Tool
	byName map[string]Tool
	open   map[string]bool
}

// NewSet returns the set of the given tools in their order. open names tools that everybody may use although their Spec
// says admins only. A second tool of the same name is a mistake of the caller and panics.
func NewSet(tools []Tool, open ...string) *Set {
	s := &Set{order: slices.Clone(tools), byName: make(map[string]Tool, len(tools)), open: make(map[string]bool, len(open))}
	for _, t := range tools {
		name := t.Spec().Name
		if _, twice := s.byName[name]; twice {
			panic("tool: two tools are named " + name)
		}
		s.byName[name] = t
	}
	for _, name := range open {
		s.open[name] = true
	}
	return s
}

// Lookup finds a tool by name, whoever may use it.
func (s *Set) Lookup(name string) (Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// For finds a tool that somebody with or without admin rights may use.
func (s *Set) For(admin bool, name string) (Tool, bool) {
	t, ok := s.byName[name]
	if !ok || !s.offered(t.Spec(), admin) {
		return nil, false
	}
	return t, true
}

// Specs lists the tools that somebody with or without admin rights may use, in order.
func (s *Set) Specs(admin bool) []Spec {
	specs := make([]Spec, 0, len(s.order))
	for _, t := range s.order {
		if spec := t.Spec(); s.offered(spec, admin) {
			specs = append(specs, spec)
		}
	}
	return specs
}

func (s *Set) offered(spec Spec, admin bool) bool { return admin || !spec.Admin || s.open[spec.Name] }
