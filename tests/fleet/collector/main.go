// SPDX-License-Identifier: BSD-2-Clause

// An OpenTelemetry Collector with the OTLP receiver and one exporter, which appends what arrives to a file: the length in 4 bytes, the highest first, then
// the message in protobuf. tests/fleet/engines builds it; tests/fleet/collector.py starts it.
package main

import (
	"context"
	"encoding/binary"
	"log"
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry"
)

type config struct {
	Path string `mapstructure:"path"`
}

type toFile struct {
	component.StartFunc
	component.ShutdownFunc
	file *os.File
}

func (*toFile) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// ConsumeProfiles writes one message with one call, so that the file never has a part of one unless the Collector is killed inside that call.
func (t *toFile) ConsumeProfiles(_ context.Context, profiles pprofile.Profiles) error {
	bytes, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(profiles)
	if err != nil {
		return err
	}
	_, err = t.file.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(bytes))), bytes...))
	return err
}

func newToFile(_ context.Context, _ exporter.Settings, c component.Config) (xexporter.Profiles, error) {
	file, err := os.OpenFile(c.(*config).Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return &toFile{file: file}, err
}

func factories() (f otelcol.Factories, err error) {
	f.Telemetry = telemetry.NewFactory(func() component.Config { return &struct{}{} })
	if f.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory()); err != nil {
		return
	}
	f.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](xexporter.NewFactory(component.MustNewType("tofile"), func() component.Config { return &config{} },
		xexporter.WithProfiles(newToFile, component.StabilityLevelDevelopment)))
	return
}

func main() {
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "test"},
		Factories: factories,
	}
	settings.ConfigProviderSettings.ResolverSettings.ProviderFactories = []confmap.ProviderFactory{fileprovider.NewFactory()}
	settings.ConfigProviderSettings.ResolverSettings.DefaultScheme = "file"
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}
