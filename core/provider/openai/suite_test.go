package openai_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"bellhop/core/provider"
	"bellhop/core/provider/openai"
	"bellhop/core/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	providertest.Run(t, providertest.Kit{
		New: func(base, key string, client *http.Client) provider.Provider {
			return openai.New(openai.Options{BaseURL: base, Key: key, Client: client})
		},
		Server: providertest.New,
		Dialects: []providertest.Dialect{providertest.ZeroIndex, providertest.NoIndex, providertest.Whole, providertest.Repeated,
			providertest.ObjectArgs, providertest.NoID, providertest.Legacy, providertest.StopFinish,
			providertest.ReasoningField, providertest.ReasoningDetails, providertest.ThinkTags, providertest.TypedParts},
	})
}
