export interface ChatMessage {
  id: string;
  kind: 'MESSAGE' | 'SYSTEM';
  author: { id: string | null; displayName: string; badges: string[] };
  text: string;
  createdAt: string;
  deletedAt: string | null;
}

interface Options {
  /** URL of the chat's messages and events. */
  address: string;
  /** Token that admitted the visitor, as a query string. */
  suffix: string;
  /** ID of the last event that the page contains. */
  eventId: string;
  onMessage(message: ChatMessage): void;
  onDeleted(id: string): void;
  onCleared(): void;
  onSettings(settings: { chatMode: string; slowModeSec: number }): void;
}

const POLL_MS = 5000;
/** Time in the background after which the connection is closed until the page is visible again. */
const HIDDEN_MS = 60_000;
/** Delay before reconnecting to a server that had no free connection. */
const RETRY_MS = 60_000;

/**
 * Reads the chat from an event stream that resumes, and polls every five seconds while the stream is
 * unavailable. A hidden page reads nothing.
 */
export function createReader(options: Options): void {
  let source: EventSource | null = null;
  let { eventId } = options;
  let polling: ReturnType<typeof setInterval> | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  let retrying: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  const query = (more: string) => `${options.suffix}${options.suffix === '' ? '?' : '&'}${more}`;
  const load = async () => {
    const answer = await fetch(`${options.address}${options.suffix}`).catch(() => null);
    if (!answer?.ok) return;
    const { data } = await answer.json();
    const deleted: ChatMessage[] = data.messages.filter((message: ChatMessage) => message.deletedAt !== null);
    for (const { id } of deleted) options.onDeleted(id);
    for (const message of data.messages) options.onMessage(message);
    options.onSettings(data.settings);
  };
  const open = () => {
    clearTimeout(retrying);
    if (source !== null || isOver) return;
    const opened = new EventSource(
      `${options.address}/events${query(`lastEventId=${encodeURIComponent(eventId)}`)}`,
    );
    source = opened;
    const on = <T>(name: string, handle: (data: T) => void) =>
      opened.addEventListener(name, (event) => {
        if (event.lastEventId !== '') eventId = event.lastEventId;
        const data: T = JSON.parse(event.data);
        handle(data);
      });
    on('ready', () => poll(false));
    on('message', options.onMessage);
    on('deleted', ({ messageId }: { messageId: string }) => options.onDeleted(messageId));
    on('cleared', options.onCleared);
    on('settings', options.onSettings);
    on('resync', () => void load());
    on('bye', ({ reconnect }: { reconnect: boolean }) => {
      if (!reconnect) stop();
    });
    opened.addEventListener('error', () => {
      // The browser reconnects automatically, except after an error response.
      if (opened.readyState !== EventSource.CLOSED) return;
      close();
      poll(true);
      retrying = setTimeout(open, RETRY_MS);
    });
  };
  const close = () => {
    source?.close();
    source = null;
  };
  const poll = (isOn: boolean) => {
    clearInterval(polling);
    if (isOn) polling = setInterval(() => void load(), POLL_MS);
  };
  const stop = () => {
    isOver = true;
    close();
    poll(false);
  };
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding);
    if (!document.hidden) return open();
    hiding = setTimeout(() => {
      close();
      poll(false);
    }, HIDDEN_MS);
  });
  open();
}
