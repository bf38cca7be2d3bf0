package openai

import (
	"strings"

	"bellhop/core/provider"
)

// families are the published numbers of models by the beginning of their names, the more particular first. They are a
// starting point: Options.Limits, then what GET /models tells, come before them.
var families = []struct {
	prefix string
	provider.Limits
}{
	{"gpt-4.1", provider.Limits{Window: 1047576, Output: 32768, Vision: true}},
	{"gpt-4o", provider.Limits{Window: 128000, Output: 16384, Vision: true}},
	{"gpt-4-turbo", provider.Limits{Window: 128000, Output: 4096, Vision: true}},
	{"gpt-4", provider.Limits{Window: 8192, Output: 8192}},
	{"gpt-3.5-turbo", provider.Limits{Window: 16385, Output: 4096}},
	{"gpt-5", provider.Limits{Window: 400000, Output: 128000, Vision: true}},
	{"o3-mini", provider.Limits{Window: 200000, Output: 100000}},
	{"o3", provider.Limits{Window: 200000, Output: 100000, Vision: true}},
	{"o4-mini", provider.Limits{Window: 200000, Output: 100000, Vision: true}},
}

// Limits implements provider.Provider. A name may carry a vendor before a slash (openai/gpt-4o).
func (p *Provider) Limits(model string) provider.Limits {
	if l, ok := p.o.Limits[model]; ok {
		return l
	}
	var l provider.Limits
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, f := range families {
		if strings.HasPrefix(name, f.prefix) {
			l = f.Limits
			break
		}
	}
	if n, ok := p.windows.Load(model); ok {
		l.Window = n.(int)
	}
	return l
}
