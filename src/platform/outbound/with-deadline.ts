import { OutboundError } from './errors.ts';

/**
 * Runs `work`; at the deadline its signal aborts, and unless it settles immediately the call times out.
 *
 * @throws {OutboundError} of the stage `timeout`, which is also the signal's reason.
 */
export function withDeadline<T>(timeoutMs: number, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    const error = new OutboundError('timeout', `${timeoutMs} ms`);
    controller.abort(error);
    setImmediate(reject, error);
  }, timeoutMs);
  Promise.try(work, controller.signal)
    .finally(() => clearTimeout(timer))
    .then(resolve, reject);
  return promise;
}
