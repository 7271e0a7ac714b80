// Package shots turns what the program prints on a terminal into pictures: SVG
// files of docs/shots in which every letter is text. A test prints, draws and
// compares; nothing in a picture was written by hand.
package shots
