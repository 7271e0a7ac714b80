package counts

// hidden are the commands of which only the standard library executes more for each object the
// more there are, such as slices.Index in a loop: that is counted when everything is tried. Who
// makes one linear takes it out; none is added.
var hidden = []string{
	"namespaces: stuck -A",
	"namespaces: collect",
	"operators: risk --top 10",
	"operators: explain secrets",
	"operators: dry-run delete platforms.platform.example.com -o json",
	"jobs: collect",
	"storage: collect",
}
