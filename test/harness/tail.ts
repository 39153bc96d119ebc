import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import { waitFor } from './wait-for.ts';

interface TailOptions {
  key?: string;
  /** Default `text/event-stream`. */
  accept?: string;
  /** `Last-Event-ID`. */
  after?: string;
}

/** Client of server-sent events that stores them. */
export interface TailClient {
  response: Response;
  messages: EventSourceMessage[];
  /** The parsed data of the events of this name. */
  data(event: string): Record<string, unknown>[];
  /** Waits for `count` events of the name. */
  waitFor(event: string, count?: number): Promise<EventSourceMessage[]>;
  /** Returns the ID of the last event that had one. */
  lastId(): string;
  /** Resolves when the server has ended it. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** @param url absolute. */
export async function openTail(url: string, options: TailOptions = {}): Promise<TailClient> {
  const { key, accept = 'text/event-stream', after } = options;
  const controller = new AbortController();
  const response = await fetch(url, {
    headers: {
      accept,
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(after === undefined ? {} : { 'last-event-id': after }),
    },
    signal: controller.signal,
  });
  const messages: EventSourceMessage[] = [];
  const reading = (async () => {
    if (response.body === null) return;
    const events = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    for await (const message of events) messages.push(message);
  })().catch(() => {});
  const named = (event: string) => messages.filter((message) => message.event === event);
  return {
    response,
    messages,
    data: (event) => named(event).map(({ data }) => JSON.parse(data)),
    waitFor: (event, count = 1) =>
      waitFor(() => named(event).length >= count && named(event), {
        message: () => `${count} times ${event} in ${JSON.stringify(messages)}`,
      }),
    lastId: () => messages.findLast(({ id }) => id !== undefined)?.id ?? '',
    ended: reading,
    async close() {
      controller.abort();
      await reading;
    },
  };
}
