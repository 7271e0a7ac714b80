// One line of JSON for each test, for the Go test that counts them.
export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type === "test:pass" || type === "test:fail") {
      const error = data.details.error;
      const why = error && String(error.cause?.stack ?? error.stack ?? error);
      yield JSON.stringify({ name: data.name, ok: type === "test:pass", why, took: data.details.duration_ms }) + "\n";
    } else if (type === "test:diagnostic" && data.message.startsWith("measured: ")) {
      yield JSON.stringify({ note: data.message }) + "\n";
    }
  }
}
