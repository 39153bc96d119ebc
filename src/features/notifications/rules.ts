import type { Mode } from '../../kernel/access.ts';

/** What a channel is called in preferences (`api.md` C6). */
export interface Channels {
  email: boolean;
  inApp: boolean;
}

export type Severity = 'INFO' | 'WARNING' | 'CRITICAL';

/** What an event says to a person. */
export interface Notice {
  severity: Severity;
  title: string;
  body: string;
  resource: { type: string; id: string };
}

/** The events that make a notification, and how grave each is. */
const SEVERITIES = {
  'api_key.expiring': 'WARNING',
  'integration_domain.failed': 'WARNING',
  'integration_domain.lapsed': 'CRITICAL',
  'video.processing.failed': 'WARNING',
  'webhook.failing': 'CRITICAL',
} as const satisfies Record<string, Severity>;

type NoticeType = keyof typeof SEVERITIES;

const isNoticeType = (type: string): type is NoticeType => Object.hasOwn(SEVERITIES, type);

/** Alphabetical. */
export const NOTICE_TYPES: readonly NoticeType[] = Object.keys(SEVERITIES).filter(isNoticeType);

/** In-app for all, e-mail for what cannot wait. */
function defaultsOf(type: NoticeType): Channels {
  return { email: SEVERITIES[type] === 'CRITICAL', inApp: true };
}

/** An account's choice; `types` holds only what it has chosen. */
export interface Choice {
  channels: Channels;
  types: Readonly<Record<string, Channels>>;
}

export const DEFAULT_CHOICE: Choice = { channels: { email: true, inApp: true }, types: {} };

/** The choice with every type in it: a new type shows its default. */
export function effectiveChoice({ channels, types }: Choice): Choice {
  const all = NOTICE_TYPES.map((type) => [type, types[type] ?? defaultsOf(type)] as const);
  return { channels, types: Object.fromEntries(all) };
}

/** @returns the first member of `types` that is no type of ours, or null. */
export function unknownType(types: Readonly<Record<string, unknown>>): string | null {
  return Object.keys(types).find((type) => !isNoticeType(type)) ?? null;
}

/** Over which channels a type goes: a channel that is off is off for every type. */
export function channelsFor(type: string, { channels, types }: Choice): Channels {
  const own = types[type] ?? (isNoticeType(type) ? defaultsOf(type) : { email: false, inApp: false });
  return { email: channels.email && own.email, inApp: channels.inApp && own.inApp };
}

interface Happened {
  type: string;
  /** The event's data, which its schema in the catalogue describes. */
  data: object;
  /** Of the workspace: notifications of both modes stand in one list. */
  mode: Mode;
}

/** @returns null for events that nobody is notified of. */
export function noticeOf({ type, data, mode }: Happened): Notice | null {
  if (!isNoticeType(type)) return null;
  const read = (name: string) => textOf(data, name);
  // An upload that was given up is no news to who gave it up.
  if (read('error.code') === 'UPLOAD_EXPIRED') return null;
  const { title, ...rest } = wordsOf(type, read);
  return { severity: SEVERITIES[type], title: mode === 'test' ? `${title} (test mode)` : title, ...rest };
}

function wordsOf(type: NoticeType, read: (name: string) => string): Omit<Notice, 'severity'> {
  switch (type) {
    case 'webhook.failing': {
      const url = withoutQuery(read('url'));
      return {
        title: 'A webhook keeps failing',
        body: `${url} has not taken a delivery for a day or more: ${read('consecutiveFailures')} failures in a row. See its delivery log; events of the last 30 days can be sent again once it answers.`,
        resource: { type: 'WEBHOOK', id: read('webhookId') },
      };
    }
    case 'integration_domain.lapsed':
      return {
        title: `The proof of ${read('domain')} is gone`,
        body: `It has not been found for three days, so checkout calls from this domain are refused until it is back. ${sentence(read('error'))}`.trim(),
        resource: { type: 'INTEGRATION_DOMAIN', id: read('domainId') },
      };
    case 'integration_domain.failed':
      return {
        title: `${read('domain')} was not verified`,
        body: `No proof was found within seven days, and it is looked for no more until you ask. ${sentence(read('error'))}`.trim(),
        resource: { type: 'INTEGRATION_DOMAIN', id: read('domainId') },
      };
    case 'video.processing.failed':
      return {
        title: 'A video could not be processed',
        body: `${read('error.message')} The code is ${read('error.code')}.`.trim(),
        resource: { type: 'VIDEO', id: read('videoId') },
      };
    case 'api_key.expiring':
      return {
        title: `The API key “${read('name')}” expires soon`,
        body: `It is refused from ${read('expiresAt')} on. Make another one, or rotate it, before that.`,
        resource: { type: 'API_KEY', id: read('keyId') },
      };
  }
}

/** Text or a number of the data, at a path with dots; anything else is empty. */
function textOf(data: object, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>((node, name) => Object.getOwnPropertyDescriptor(Object(node), name)?.value, data);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const sentence = (text: string) => (text === '' ? '' : `Last seen: ${text}.`);

/** A query often holds a token of the receiver: not for a mail. */
function withoutQuery(text: string): string {
  const url = URL.parse(text);
  return url === null ? 'The receiver' : url.origin + url.pathname;
}
