/** A difference that the whole seconds of the header and the way through the network explain. */
const NOTHING_MS = 30_000;

let aheadMs = 0;

/** Records the server's time from the `Date` header of a response. */
export function noteServerTime(headers: Headers): void {
  const at = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(at)) return;
  const ms = at - Date.now();
  aheadMs = Math.abs(ms) < NOTHING_MS ? 0 : ms;
}

/** Now, in milliseconds, by the server's clock: that of the device may be days off. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}
