/** One list under one filter. */
export interface Case {
  name: string;
  /** @param letter of the workspace @returns path and query, which has a parameter already. */
  query: (letter: string) => string;
  /** Compares the page at row `DEEP_ROW` with the first one of the small workspace. */
  isDeep?: true;
}

/**
 * Reports whether the list gathers all matches when the newest rows do not fill the page, instead of reading
 * them in order: its reads grow with the matches (docs/decisions/lists-and-ids.md#searches).
 */
export function gathersMatches(name: string): boolean {
  return / q=|(productId|customerEmail)=.*&(from|to)=/.test(name);
}

/** The 1000th page of 25. */
export const DEEP_ROW = 25_000;
const DAY_MS = 86_400_000;
/** Returns the instant before which this share of the rows of `days` days was created. */
const at = (share: number, days: number) =>
  encodeURIComponent(new Date(Date.now() - (1 - share) * days * DAY_MS).toISOString());
const plain = (name: string, path: string, isDeep?: true): Case => ({
  name: isDeep === true ? `${name}, ${DEEP_ROW} rows on` : name,
  query: () => path,
  ...(isDeep === true ? { isDeep } : {}),
});

/** Searches for words that only old rows contain. */
const OLD_WORDS = ['q=archive', 'q=half'];

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
    ...queries
      .filter((query, place) => place < 3 || OLD_WORDS.includes(query))
      .map((query) => plain(`${path} ${query} old`, `${first}&${query}&${early}`)),
  ];
}

/** Ids of other rows hang on the letter of the workspace. */
const OF_LETTER = '<letter>';

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
  'q=half',
  'q=half&order=asc',
  'q=half&status=QUEUED',
  'q=half&visibility=TIER&tag=tag7',
  'q=lesson&externalId=external-7',
  `q=archive&streamId=str_${OF_LETTER}7`,
  'externalId=external-7',
  'externalId=none',
  'externalId=external-all',
  'externalId=external-all&status=QUEUED',
  'externalId=external-all&visibility=PURCHASE',
  `streamId=str_${OF_LETTER}1`,
  `streamId=str_${OF_LETTER}1&status=QUEUED`,
  `streamId=str_${OF_LETTER}1&visibility=PURCHASE,TIER`,
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

const MORE: readonly [path: string, days: number, queries: readonly string[]][] = [
  [
    '/purchases',
    400,
    [
      ...[
        'status=FAILED',
        'kind=VIDEO',
        'status=REFUNDED',
        'status=DISPUTED',
        'status=PENDING',
        'kind=BOOKING',
      ],
      ...[
        'kind=SUBSCRIPTION',
        'kind=VIDEO&status=DISPUTED',
        'videoId=vid_of_1',
        'videoId=vid_one',
        'videoId=none',
      ],
      ...['videoId=vid_of_1&status=REFUNDED', 'videoId=vid_of_1&kind=BOOKING', 'subscriptionId=sub_of_11'],
      ...[`from=${at(0.9, 400)}`, `to=${at(0.1, 400)}`, `status=PAID&to=${at(0.1, 400)}`],
    ],
  ],
  [
    '/monetization/payments',
    400,
    [
      ...[
        'type=CHARGE',
        'status=FAILED',
        'type=REFUND',
        'type=DISPUTE',
        'type=FEE',
        'status=PENDING',
        'status=CANCELED',
      ],
      ...[
        'type=REFUND&status=FAILED',
        'purchaseId=pur_of_7',
        `to=${at(0.1, 400)}`,
        `from=${at(0.9, 400)}&order=asc`,
      ],
    ],
  ],
  ['/me/payouts', 400, ['status=PAID', 'status=FAILED', 'status=CANCELED']],
  [
    '/me/subscriptions',
    400,
    [
      ...['status=ACTIVE', 'status=CANCELED', 'status=EXPIRED', 'status=PAST_DUE', 'status=TRIALING'],
      ...[
        `tierId=tier_${OF_LETTER}1`,
        `tierId=tier_${OF_LETTER}2`,
        `tierId=tier_${OF_LETTER}1&status=EXPIRED`,
      ],
      `tierId=tier_${OF_LETTER}1&status=TRIALING`,
    ],
  ],
  [
    '/subscribers',
    400,
    [
      ...['status=CONFIRMED', 'q=person', 'status=UNSUBSCRIBED', 'status=PENDING', 'q=zebra', 'q=xyzzy'],
      ...['q=person&status=PENDING', 'q=half', 'q=zq', 'q=half&status=UNSUBSCRIBED'],
    ],
  ],
  [
    '/booking/bookings',
    400,
    [
      ...[
        'status=COMPLETED',
        'status=CANCELED',
        'status=EXPIRED',
        'status=NO_SHOW',
        'status=PENDING_PAYMENT',
      ],
      ...[
        `productId=bkp_${OF_LETTER}1`,
        `productId=bkp_${OF_LETTER}2`,
        `productId=bkp_${OF_LETTER}1&status=EXPIRED`,
      ],
      ...['cohortId=coh_none', 'customerEmail=person7@example.com', `from=${at(0.9, 400)}`],
      ...[`from=${at(0.5, 400)}&to=${at(0.502, 400)}`, `to=${at(0.5, 400)}`],
      ...[
        `productId=bkp_${OF_LETTER}1&to=${at(0.5, 400)}`,
        `productId=bkp_${OF_LETTER}1&from=${at(0.1, 400)}&to=${at(0.7, 400)}&status=NO_SHOW`,
        `customerEmail=many@example.com&productId=bkp_${OF_LETTER}2`,
        `customerEmail=many@example.com&to=${at(0.5, 400)}`,
        `customerEmail=many@example.com&productId=bkp_${OF_LETTER}2&to=${at(0.5, 400)}`,
        `cohortId=coh_none&to=${at(0.5, 400)}`,
      ],
      ...[`status=NO_SHOW&from=${at(0, 400)}`, `from=${at(0.1, 400)}&to=${at(0.7, 400)}&order=asc`],
    ],
  ],
  [
    '/booking/waitlist',
    400,
    [
      ...['status=CONVERTED', 'status=EXPIRED', 'status=WAITING', `productId=bkp_${OF_LETTER}2`],
      ...[`productId=bkp_${OF_LETTER}1&status=EXPIRED`, `cohortId=coh_${OF_LETTER}2`],
      `cohortId=coh_${OF_LETTER}1&status=WAITING`,
    ],
  ],
  ['/booking/discount-codes', 400, []],
  [
    '/imports',
    400,
    [
      'status=FAILED',
      'provider=VIMEO',
      'provider=S3',
      'status=CANCELED',
      'status=PENDING',
      'provider=S3&status=COMPLETED',
    ],
  ],
  ['/playlists', 400, ['visibility=PUBLIC', 'visibility=PRIVATE', 'visibility=UNLISTED']],
  ['/rooms', 400, ['status=ENDED', 'status=CREATED', 'status=ACTIVE']],
  [
    '/bridges',
    400,
    [
      ...['status=STOPPED', 'status=FAILED', 'type=STREAM_TO_ROOM', 'status=ACTIVE'],
      ...[
        `targetId=str_${OF_LETTER}1`,
        `targetId=str_${OF_LETTER}2`,
        `targetId=str_${OF_LETTER}1&status=FAILED`,
      ],
    ],
  ],
  [`/streams/str_chat${OF_LETTER}/chat`, 20, [`since=${at(0.9, 20)}`]],
  ['/restreams', 400, ['streamId=none']],
  [
    '/notifications',
    80,
    [
      ...[
        'unread=true',
        'unread=false',
        'type=webhook.failing',
        'type=quota.exceeded',
        'type=payment.succeeded',
      ],
      ...['unread=true&type=payment.succeeded', 'unread=false&type=quota.exceeded', 'type=payout.failed'],
    ],
  ],
  [
    '/support/tickets',
    400,
    [
      'status=CLOSED',
      'status=OPEN',
      'status=PENDING',
      'category=ABUSE',
      'category=BILLING',
      'category=ABUSE&status=CLOSED',
    ],
  ],
  [
    '/me/api-keys',
    400,
    ['isUsable=true', 'isUsable=false', 'mode=live', 'mode=test', 'mode=test&isUsable=true'],
  ],
];

export const CASES: readonly Case[] = [
  ...list('/videos', 400, VIDEOS),
  { name: '/videos streamId', query: (letter: string) => `/videos?limit=25&streamId=str_${letter}7` },
  ...list('/streams', 400, STREAMS),
  ...list('/me/events', 29, EVENTS),
  ...list(`/me/webhooks/wh_${OF_LETTER}/deliveries`, 29, DELIVERIES),
  plain(`/me/webhooks/wh_${OF_LETTER}/pending`, `/me/webhooks/wh_${OF_LETTER}/pending?limit=25`),
  plain(
    `/me/webhooks/wh_${OF_LETTER}/pending asc`,
    `/me/webhooks/wh_${OF_LETTER}/pending?limit=25&order=asc`,
  ),
  ...list('/me/requests', 6, REQUESTS),
  ...MORE.flatMap(([path, days, queries]) =>
    list(path, days, queries).filter(({ isDeep }) => isDeep !== true),
  ),
].map(({ name, query, ...one }) => ({
  ...one,
  name: name.replaceAll(OF_LETTER, '').replaceAll(/(from|to)=[^&]*/g, '$1=<time>'),
  query: (letter: string): string => query(letter).replaceAll(OF_LETTER, letter),
}));
