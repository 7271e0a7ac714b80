package object

// Filtered returns the elements of list that satisfy is, nil if none does.
func Filtered[T any](list []T, is func(T) bool) []T {
	var found []T
	for _, x := range list {
		if is(x) {
			found = append(found, x)
		}
	}
	return found
}

// Count returns how many elements of list satisfy is.
func Count[T any](list []T, is func(T) bool) int {
	n := 0
	for _, x := range list {
		if is(x) {
			n++
		}
	}
	return n
}

// Mapped returns what of returns for each element of list, in their order.
func Mapped[T, R any](list []T, of func(T) R) []R {
	results := make([]R, len(list))
	for i, x := range list {
		results[i] = of(x)
	}
	return results
}

// Distinct returns the elements of list, each once, in their order.
func Distinct[T comparable](list []T) []T {
	return Reached(list, func(T) []T { return nil })
}

// SetOf returns the set of what of returns for the elements of list.
func SetOf[T any, K comparable](list []T, of func(T) K) map[K]bool {
	set := make(map[K]bool, len(list))
	for _, x := range list {
		set[of(x)] = true
	}
	return set
}

// Reached returns starts and what next leads to from them, each once, the nearest first.
func Reached[T comparable](starts []T, next func(T) []T) []T {
	var found []T
	met := map[T]bool{}
	for step := starts; len(step) > 0; {
		var further []T
		for _, x := range step {
			if !met[x] {
				met[x] = true
				found, further = append(found, x), append(further, next(x)...)
			}
		}
		step = further
	}
	return found
}
