package report

import (
	"reflect"
	"slices"
	"strings"
)

// Connection is the flags with which a run reads what it is about: those of kubectl for its cluster and
// user, and the dumps, each as it is typed: `--context=prod`, `--as=ann`, `--from=dump.yaml`.
type Connection []string

// readsDumps are the commands of this program that only read. Any other command is about the cluster.
var readsDumps = []string{"check", "doctor", "dry-run", "explain", "graph", "risk", "stuck"}

// Command returns a command with the flags, so that it reaches the same cluster as the same user. Helm
// has other names for some of them and lacks the others. The command-line tool of Argo CD reaches no
// API server.
func (c Connection) Command(command string) string {
	words := strings.Fields(command)
	program := slices.IndexFunc(words, func(w string) bool { return !strings.Contains(w, "=") }) // after variables
	flags := []string(c)
	switch {
	case program < 0:
		return command
	case words[program] == "helm":
		flags = c.ofHelm()
	case words[program] != "kubectl" && words[program] != "flux":
		return command
	case len(words) < program+3 || words[program+1] != "gc" || !slices.Contains(readsDumps, words[program+2]):
		flags = slices.DeleteFunc(slices.Clone(flags), func(flag string) bool { return strings.HasPrefix(flag, "--from=") })
	}
	with := " " + strings.Join(flags, " ")
	if len(flags) == 0 || strings.HasSuffix(command, with) {
		return command
	}
	return command + with
}

// Text returns a text with the flags in each command that it quotes with backquotes.
func (c Connection) Text(text string) string {
	parts := strings.Split(text, "`")
	for i := 1; i+1 < len(parts); i += 2 {
		parts[i] = c.Command(parts[i])
	}
	return strings.Join(parts, "`")
}

// helmNames are the flags of Helm for those of kubectl.
//
// Source: helm, pkg/cli/environment.go EnvSettings.AddFlags.
var helmNames = map[string]string{
	"--kubeconfig": "--kubeconfig", "--context": "--kube-context", "--as": "--kube-as-user", "--as-group": "--kube-as-group",
	"--server": "--kube-apiserver", "--token": "--kube-token", "--certificate-authority": "--kube-ca-file",
	"--tls-server-name": "--kube-tls-server-name", "--insecure-skip-tls-verify": "--kube-insecure-skip-tls-verify",
}

func (c Connection) ofHelm() (flags []string) {
	for _, flag := range c {
		name, value, valued := strings.Cut(flag, "=")
		if name = helmNames[name]; name == "" {
			continue
		}
		if valued {
			name += "=" + value
		}
		flags = append(flags, name)
	}
	return flags
}

// Connect adds the flags to each command in a document that lacks them.
func (c Connection) Connect(document any) {
	if len(c) > 0 {
		c.connect(reflect.ValueOf(document))
	}
}

func (c Connection) connect(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			c.connect(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.connect(v.Index(i))
		}
	case reflect.Struct:
		if v.CanAddr() {
			switch x := v.Addr().Interface().(type) {
			case *Remedy:
				x.Command = c.Command(x.Command)
				return
			case *Run:
				x.Message = c.Text(x.Message)
			case *Uninstall:
				x.Command = c.Command(x.Command)
			case *Finding:
				if x.Remedy = c.Text(x.Remedy); len(x.Remedies) > 0 && x.Remedy == x.Remedies[0].Command {
					x.Remedy = c.Command(x.Remedy)
				}
			case *FinalizerFinding:
				x.Remedy = c.Text(x.Remedy)
			}
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.connect(v.Field(i))
			}
		}
	}
}
