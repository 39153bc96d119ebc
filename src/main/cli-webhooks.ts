import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import { optional, required, UsageError, type Values } from '../features/commands.ts';
import { renderDelivery } from '../features/integration/webhooks/module.ts';
import { BASE_PATH } from '../http/app.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Config } from '../platform/config.ts';

/** A command that calls a running platform over its API, from any machine. */
interface RemoteCommand {
  usage: string;
  run(config: Config, values: Values, args: readonly string[]): Promise<void>;
}

/** The platform's URL and the API key. */
interface Remote {
  /** The base URL of the API. */
  api: string;
  key: string;
}

/** The platform refuses, and would again. */
class RejectedError extends Error {}

/** Heartbeats come every 15 s. */
const SILENCE_MS = 45_000;
const RECONNECT_MS = 1000;
/** Timeout of a receiver, as in the platform (docs/concepts/webhooks.md#attempts). */
const RECEIVER_MS = 10_000;

function remoteOf(config: Config, values: Values): Remote {
  const url = optional(values, 'url') ?? config.MARQUEE_URL;
  const key = optional(values, 'key') ?? config.MARQUEE_API_KEY;
  if (key === undefined) throw new UsageError('--key or MARQUEE_API_KEY is required');
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new UsageError('--url must be a URL, such as https://video.example.com');
  }
  return { api: url.replace(/\/+$/, '').replace(BASE_PATH, '') + BASE_PATH, key };
}

/**
 * Returns a secret derived from the key, so that a receiver is configured once; it does not reveal the key.
 */
function listenerSecret({ key }: Remote): string {
  return `whsec_${createHmac('sha256', key).update('marquee webhook listen').digest('base64url')}`;
}

const listenCommand: RemoteCommand = {
  usage:
    'webhook listen --forward-to URL [--events a,b] [--print-secret] [--url https://video.example.com] [--key pk_…]',
  async run(config, values) {
    const remote = remoteOf(config, values);
    const secret = listenerSecret(remote);
    if (values['print-secret'] === true) return void process.stdout.write(`${secret}\n`);
    const target = required(values, 'forward-to');
    if (!/^https?:$/.test(URL.canParse(target) ? new URL(target).protocol : '')) {
      throw new UsageError('--forward-to must be a URL, such as http://localhost:3000/hook');
    }
    const stopped = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
    const print = values.json === true ? printJson : printText;
    print({ kind: 'ready', secret, target });
    const types = optional(values, 'events') ?? '';
    await follow(remote, types, stopped.signal, async (body) => {
      print(await forward(body, target, secret));
    });
  },
};

/** Reads the tail of events and comes back after every loss, behind the last event it has seen. */
async function follow(
  remote: Remote,
  types: string,
  signal: AbortSignal,
  receive: (body: string) => Promise<void>,
): Promise<void> {
  let lastEventId: string | null = null;
  while (!signal.aborted) {
    try {
      for await (const message of tail(remote, types, lastEventId, signal)) {
        if (message.event === 'resync') warn('events may have been missed: the resume position has expired');
        if (message.event !== 'event') continue;
        await receive(message.data);
        lastEventId = message.id ?? lastEventId;
      }
    } catch (error) {
      if (error instanceof RejectedError) throw error;
      if (!signal.aborted) warn(`connection lost (${reasonOf(error)}), reconnecting`);
    }
    await sleep(RECONNECT_MS, undefined, { signal }).catch(() => {});
  }
}

async function* tail(
  remote: Remote,
  types: string,
  lastEventId: string | null,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error('no heartbeat')), SILENCE_MS);
  try {
    const query = types === '' ? '' : `?${new URLSearchParams({ type: types })}`;
    const response = await fetch(`${remote.api}/me/events/stream${query}`, {
      headers: {
        Authorization: `Bearer ${remote.key}`,
        Accept: 'text/event-stream',
        ...(lastEventId === null ? {} : { 'Last-Event-ID': lastEventId }),
      },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok || response.body === null) throw await responseError(response);
    const parser = new EventSourceParserStream({ onComment: () => void timer.refresh() });
    for await (const message of response.body.pipeThrough(new TextDecoderStream()).pipeThrough(parser)) {
      timer.refresh();
      yield message;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error for a response. A busy or unavailable platform is retried. */
async function responseError(response: Response): Promise<Error> {
  const message = `the platform returned ${response.status}: ${messageOf(await response.text())}`;
  const isFinal = response.status < 500 && response.status !== 429;
  return isFinal ? new RejectedError(message) : new Error(message);
}

function messageOf(text: string): string {
  const parsed = parseObject(text);
  const error = parsed !== null && 'error' in parsed ? parsed.error : null;
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  return text.slice(0, 200);
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

interface Forwarded {
  kind: 'forwarded';
  id: string;
  type: string;
  /** Null when no answer came. */
  status: number | null;
  ms: number;
  error: string | null;
}

/** Sends the event to the local receiver with a new signature: the platform's secrets never leave it. */
async function forward(body: string, target: string, secret: string): Promise<Forwarded> {
  const event = parseObject(body) ?? {};
  const id = 'id' in event ? String(event.id) : '';
  const type = 'type' in event ? String(event.type) : '';
  const content = { url: target, secret, eventId: id, eventType: type, body };
  const { url, ...request } = renderDelivery(content, Math.floor(systemClock.ms() / 1000));
  const startedAt = performance.now();
  const done = (status: number | null, error: string | null): Forwarded => {
    return { kind: 'forwarded', id, type, status, ms: Math.round(performance.now() - startedAt), error };
  };
  try {
    const response = await fetch(url, {
      ...request,
      redirect: 'manual',
      signal: AbortSignal.timeout(RECEIVER_MS),
    });
    await response.body?.cancel();
    return done(response.status, null);
  } catch (error) {
    return done(null, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : error.message;
}

type Line = Forwarded | { kind: 'ready'; secret: string; target: string };

function printJson(line: Line): void {
  process.stdout.write(`${JSON.stringify({ at: systemClock.now().toISOString(), ...line })}\n`);
}

function printText(line: Line): void {
  const text =
    line.kind === 'ready'
      ? `Forwarding to ${line.target}. Signing secret: ${line.secret}`
      : `${systemClock.now().toISOString()}  ${line.type}  ${line.id}  ${line.status ?? line.error} (${line.ms} ms)`;
  process.stdout.write(`${text}\n`);
}

function warn(text: string): void {
  process.stderr.write(`marquee: ${text}\n`);
}

const triggerCommand: RemoteCommand = {
  usage: 'webhook trigger TYPE [--payload JSON] [--url https://video.example.com] [--key pk_…]',
  async run(config, values, [type, ...more]) {
    if (type === undefined || more.length > 0) throw new UsageError('one event type is required');
    const remote = remoteOf(config, values);
    const given = optional(values, 'payload');
    const payload = given === undefined ? undefined : parseObject(given);
    if (payload === null) throw new UsageError('--payload must be a JSON object');
    const response = await fetch(`${remote.api}/me/events/trigger`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${remote.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ type, payload }),
    }).catch((error: unknown) => {
      throw new RejectedError(`${remote.api} cannot be reached: ${reasonOf(error)}`);
    });
    const text = await response.text();
    if (!response.ok) throw new RejectedError(`the platform returned ${response.status}: ${messageOf(text)}`);
    const answer = parseObject(text);
    const data = answer !== null && 'data' in answer ? answer.data : null;
    const shown = `sent a sample ${type} to all listeners`;
    process.stdout.write(`${values.json === true ? JSON.stringify(data) : shown}\n`);
  },
};

export const remoteCommands: ReadonlyMap<string, RemoteCommand> = new Map([
  ['webhook listen', listenCommand],
  ['webhook trigger', triggerCommand],
]);
