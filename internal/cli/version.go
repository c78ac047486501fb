package cli

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/legation/legation/a2a"
)

// version is set by release builds.
var version = ""

func newVersion(io streams) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which version this is and which protocol it speaks",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if out.json() {
				return printForm(io, versionOf())
			}
			fmt.Fprint(io.out, versionText())
			return nil
		},
	}
	out.flag(cmd, "the same as an object")
	return cmd
}

// versionForm is the version for programs.
type versionForm struct {
	Version       string `json:"version"`
	Protocol      string `json:"protocol"`
	Binding       string `json:"binding"`
	Specification string `json:"specification"`
	ProtoSHA256   string `json:"protoSHA256"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
}

func versionOf() versionForm {
	return versionForm{
		Version: buildVersion(), Protocol: a2a.ProtocolVersion, Binding: a2a.BindingJSONRPC, Specification: a2a.SpecificationVersion,
		ProtoSHA256: a2a.ProtoSHA256, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

func versionText() string {
	return fmt.Sprintf("legation %s\nprotocol A2A %s over %s, specification %s\na2a.proto sha256 %s\nbuilt with %s for %s/%s\n",
		buildVersion(), a2a.ProtocolVersion, a2a.BindingJSONRPC, a2a.SpecificationVersion, a2a.ProtoSHA256,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildVersion is the release, or else what the toolchain knows.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "(development)"
}

var revisionInVersion = regexp.MustCompile(`(?:^|-g|-)([0-9a-f]{7,40})(?:[-+]dirty)?$`)

// builtFrom is the revision that this program was built from, perhaps cut
// short, or nothing where neither the toolchain nor the version knows it.
func builtFrom() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return revisionIn(buildVersion())
}

// revisionIn is the revision that a version names, or nothing.
func revisionIn(version string) string {
	if found := revisionInVersion.FindStringSubmatch(version); found != nil {
		return found[1]
	}
	return ""
}
