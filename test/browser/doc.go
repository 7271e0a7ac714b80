// Package browser tries the page that -o html writes in a real browser. The tests are
// JavaScript, driven with Playwright; each is a Go test as well, so that it counts.
package browser
