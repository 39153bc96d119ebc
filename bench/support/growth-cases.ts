/** One list under one filter. */
interface Case {
  name: string;
  /** @param letter of the workspace @param count its rows @returns path and query, which has a parameter already. */
  query: (letter: string, count: number) => string;
  /** The page that begins 25,000 rows on, against the first of the small workspace. */
  isDeep?: true;
}

const DAY_MS = 86_400_000;
/** The instant by which this share of the rows of so many days was made. */
const at = (share: number, days: number) =>
  encodeURIComponent(new Date(Date.now() - (1 - share) * days * DAY_MS).toISOString());
const plain = (name: string, path: string, isDeep?: true): Case => ({
  name: isDeep === true ? `${name}, 25,000 rows on` : name,
  query: () => path,
  ...(isDeep === true ? { isDeep } : {}),
});

function list(path: string, days: number, queries: readonly string[]): Case[] {
  const first = `${path}?limit=25`;
  const early = `createdBefore=${at(0.1, days)}`;
  return [
    plain(path, first),
    plain(path, first, true),
    plain(`${path} asc`, `${first}&order=asc`),
    plain(`${path} of the oldest tenth`, `${first}&${early}`),
    plain(`${path} asc of the newest tenth`, `${first}&order=asc&createdAfter=${at(0.9, days)}`),
    plain(`${path} of no time`, `${first}&${early}&createdAfter=${at(0.1, days)}`),
    ...queries.map((query) => plain(`${path} ${query}`, `${first}&${query}`)),
    ...queries.slice(0, 3).map((query) => plain(`${path} ${query} old`, `${first}&${query}&${early}`)),
  ];
}

const VIDEOS = [
  'status=FAILED',
  'visibility=PRIVATE',
  'q=lesson',
  'status=QUEUED',
  'status=UPLOADING',
  'status=FAILED,QUEUED',
  'visibility=PURCHASE',
  'visibility=FOLLOWERS',
  'visibility=UNLISTED,PURCHASE',
  'status=READY&visibility=PUBLIC',
  'status=FAILED&visibility=TIER',
  'tag=all',
  'tag=one',
  'tag=old',
  'tag=none',
  'tag=old&status=FAILED',
  'tag=all&status=QUEUED',
  'q=zebra',
  'q=archive',
  'q=xyzzy',
  'q=zq',
  'q=q',
  'q=lesson&status=QUEUED',
  'q=archive&tag=tag7',
  'externalId=external-7',
  'externalId=none',
];

const STREAMS = [
  'visibility=PRIVATE',
  'isLive=false',
  'hasSignal=false',
  'isLive=true',
  'hasSignal=true',
  'isLive=false&hasSignal=true',
  'visibility=PURCHASE',
  'visibility=TIER',
  'visibility=FOLLOWERS',
  'visibility=TIER,PURCHASE',
  'isLive=true&visibility=PRIVATE',
];

const EVENTS = [
  'type=video.created',
  'type=video.*',
  'type=video.processing.failed',
  'type=webhook.failing',
  'type=stream.*',
  'type=booking.*',
  'type=stream.created,webhook.failing',
];

const DELIVERIES = [
  'status=SUCCESS',
  'eventType=video.created',
  'status=FAILED',
  'status=EXHAUSTED',
  'status=CANCELED',
  'status=FAILED,EXHAUSTED',
  'eventType=webhook.failing',
  'eventType=stream.created',
  'eventType=stream.live',
  'eventType=video.created&status=CANCELED',
  'trigger=REPLAY',
  'trigger=TEST',
  'eventId=00000000-0000-4000-8000-000000000000',
];

const REQUESTS = [
  'status=200',
  'status=404',
  'status=409',
  'status=5xx',
  'status=418',
  'keyId=key_one',
  'keyId=key_none',
  'path=/playlists',
  'path=/streams',
  'path=/nothing',
];

export const CASES: Case[] = [
  ...list('/videos', 400, VIDEOS),
  { name: '/videos streamId', query: (letter) => `/videos?limit=25&streamId=str_${letter}7` },
  ...list('/streams', 400, STREAMS),
  ...list('/me/events', 29, EVENTS),
  ...['a', 'b'].slice(0, 1).flatMap(() =>
    list('/me/webhooks/wh_/deliveries', 29, DELIVERIES).map((one) => ({
      ...one,
      query: (letter: string, count: number) => one.query(letter, count).replace('wh_', `wh_${letter}`),
    })),
  ),
  ...list('/me/requests', 6, REQUESTS),
];
