package replay

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// TestMain has all stages play at a time, however few processors there are: they wait
// for controllers, not for the machine.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(stages+2)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
