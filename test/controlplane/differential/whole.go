package differential

import "os"

// Whole reports whether a scenario file is run to its end here: every world of it, and
// everything that happens in them.
func Whole(file string) (bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	stories := storiesOf(file, string(text))
	for _, t := range stories {
		if t.unfit != "" || t.cut != "" {
			return false, nil
		}
	}
	return len(stories) > 0, nil
}
