// Every test, in one process: a browser takes longer to start than a test to run.
await import("./opening.test.mjs");
await import("./groups.test.mjs");
await import("./reading.test.mjs");
await import("./playing.test.mjs");
await import("./keys.test.mjs");
await import("./safety.test.mjs");
await import("./lost.test.mjs");
