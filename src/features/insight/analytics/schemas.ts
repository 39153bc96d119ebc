import Type, { type TProperties } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, NullableObject, OneOf } from '../../../http/schema.ts';
import { GRANULARITIES } from '../../../kernel/date-range.ts';

export const RANGE = {
  from: Type.Optional(
    Type.String({ description: 'A date or date-time. Defaults to 28 days before `to`.', maxLength: 40 }),
  ),
  to: Type.Optional(
    Type.String({ description: 'A date or date-time, exclusive. Defaults to tomorrow.', maxLength: 40 }),
  ),
  granularity: OneOf(GRANULARITIES, {
    default: 'DAY',
    description: 'Weeks start on Monday. With hourly granularity, at most 14 days.',
  }),
  timezone: Type.String({
    default: 'UTC',
    description: 'IANA time zone used for day boundaries.',
    maxLength: 100,
  }),
  includeSelf: Type.Boolean({
    default: false,
    description: "Includes views from the account's own sessions.",
  }),
};
const FILTER = Type.Optional(
  Type.String({
    maxLength: 253,
    description: 'Only viewers with this value. Only one filter can be used per request.',
  }),
);
const FILTERED = {
  'filter.country': FILTER,
  'filter.device': FILTER,
  'filter.browser': FILTER,
  'filter.os': FILTER,
  'filter.referrer': FILTER,
  'filter.quality': FILTER,
  'filter.source': FILTER,
};
const COMPARE = OneOf(['NONE', 'PREVIOUS'], {
  default: 'NONE',
  description: '`PREVIOUS`: `previous` contains the totals of the preceding period.',
});
const PAGED = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Page size.' }),
  cursor: Type.Optional(
    Type.String({ description: '`nextCursor` of the previous page, with the same filters.' }),
  ),
};

export const SeriesQuery = Type.Object({ ...RANGE, compare: COMPARE, ...FILTERED });
const rowsQuery = <const S extends readonly string[], F extends TProperties>(sorts: S, filters: F) =>
  Type.Object({
    ...RANGE,
    ...FILTERED,
    ...PAGED,
    sort: OneOf(sorts, { default: 'views', description: 'Highest first.' }),
    ...filters,
  });
export const VideosQuery = rowsQuery(['views', 'watchTimeSec', 'publishedAt'], {});
export const StreamsQuery = rowsQuery(['views', 'watchTimeSec', 'liveMinutes'], {});
const IdFilter = (of: string) =>
  Type.Optional(Type.String({ maxLength: 64, description: `Only views of this ${of}.` }));
export const GeographyQuery = rowsQuery(['views', 'watchTimeSec'], {
  videoId: IdFilter('video'),
  streamId: IdFilter('stream'),
});

/** Fields that every response begins with. */
export const HEAD = {
  from: Instant,
  to: Instant,
  timezone: Type.String(),
  granularity: OneOf(GRANULARITIES),
  generatedAt: Instant,
  dataFreshUntil: Nullable(
    Type.String({
      ...Instant,
      description: 'Data is complete up to this time; null if nothing has been processed yet.',
    }),
  ),
};
export const RowsHead = Type.Object(HEAD);

const Count = Type.Integer({ minimum: 0 });
const Rate = (description: string) => Nullable(Type.Number({ description }));
/** Integer that is unknown under a filter. */
const Unfiltered = (description = 'Null when a filter is used.') => Nullable(Type.Integer({ description }));
const VIEWED = { views: Count, uniqueViewers: Count, watchTimeSec: Count };
const AVERAGE = { avgViewDurationSec: Rate('Average view duration; null without views.') };
const SHOWN = {
  impressions: Unfiltered(),
  playRate: Rate('Plays per impression, 0 to 1; null without impressions.'),
};
const PERCENT_VIEWED = { avgPercentViewed: Rate('Percentage of the duration; null without views.') };

const AccountTotals = namedSchema(
  'AnalyticsAccountTotals',
  Type.Object({
    ...VIEWED,
    ...AVERAGE,
    newFollowers: Unfiltered(),
    lostFollowers: Unfiltered(),
    liveBroadcasts: Unfiltered(),
    liveMinutes: Unfiltered(),
    peakConcurrent: Unfiltered(),
  }),
);
const VideoTotals = namedSchema(
  'AnalyticsVideoTotals',
  Type.Object({ ...VIEWED, ...AVERAGE, ...PERCENT_VIEWED, ...SHOWN, plays: Unfiltered() }),
);
const ON_AIR = {
  broadcasts: Unfiltered(),
  liveMinutes: Unfiltered(),
  peakConcurrent: Unfiltered(),
  avgConcurrent: Rate('Null without viewers.'),
  chatMessages: Unfiltered(),
};
const StreamTotals = namedSchema(
  'AnalyticsStreamTotals',
  Type.Object({
    ...VIEWED,
    ...AVERAGE,
    ...ON_AIR,
    joins: Unfiltered(),
    leaves: Unfiltered(),
    bitrateKbps: Rate('Average broadcast bitrate; null without a broadcast.'),
  }),
);
const DATE = {
  date: Type.String({ description: 'First local day of the bucket; with hourly granularity, its start.' }),
};
const TOP = { title: Nullable(Type.String()), views: Count, watchTimeSec: Count };

const Value = namedSchema(
  'AnalyticsValue',
  Type.Object({
    key: Type.String(),
    label: Type.String({ description: 'Display name in English.' }),
    views: Count,
    watchTimeSec: Count,
  }),
);
export const Values = Type.Array(Value);
const BREAKDOWN = { country: Values, device: Values, browser: Values, os: Values, referrer: Values };
const Breakdown = namedSchema('AnalyticsBreakdown', Type.Object(BREAKDOWN));

export const AccountAnalytics = namedSchema(
  'AccountAnalytics',
  Type.Object({
    ...HEAD,
    totals: AccountTotals,
    previous: NullableObject(AccountTotals),
    series: Type.Array(
      Type.Object({ ...DATE, ...VIEWED, newFollowers: Unfiltered(), liveMinutes: Unfiltered() }),
    ),
    topVideos: Type.Array(Type.Object({ videoId: IdOf('vid'), ...TOP })),
    topStreams: Type.Array(Type.Object({ streamId: IdOf('str'), ...TOP })),
    breakdown: Breakdown,
    sources: Values,
  }),
);

const DELETED = { deletedAt: Nullable(Instant) };

export const VideoRow = namedSchema(
  'VideoAnalyticsRow',
  Type.Object({
    videoId: IdOf('vid'),
    title: Nullable(Type.String()),
    publishedAt: Nullable(Instant),
    ...DELETED,
    ...VIEWED,
    ...AVERAGE,
    ...PERCENT_VIEWED,
    ...SHOWN,
  }),
);

export const StreamRow = namedSchema(
  'StreamAnalyticsRow',
  Type.Object({
    streamId: IdOf('str'),
    title: Nullable(Type.String()),
    ...DELETED,
    ...VIEWED,
    ...ON_AIR,
  }),
);

export const CountryRow = namedSchema(
  'CountryAnalytics',
  Type.Object({
    countryCode: Type.String({ description: 'ISO 3166-1; `ZZ`: unknown.', examples: ['DE'] }),
    country: Type.String({ description: 'In English.', examples: ['Germany'] }),
    ...VIEWED,
    sharePercent: Rate('Share of the views of all countries; null without views.'),
  }),
);

export const VideoAnalytics = namedSchema(
  'VideoAnalytics',
  Type.Object({
    ...HEAD,
    videoId: IdOf('vid'),
    title: Nullable(Type.String()),
    ...DELETED,
    totals: VideoTotals,
    previous: NullableObject(VideoTotals),
    series: Type.Array(Type.Object({ ...DATE, ...VIEWED, impressions: Unfiltered(), plays: Unfiltered() })),
    retention: Type.Array(
      Type.Object({
        second: Count,
        percent: Rate('Percentage of views that watched this part; above 100 where viewers rewatched it.'),
      }),
    ),
    breakdown: Type.Object({ ...BREAKDOWN, quality: Values }),
    sources: Values,
  }),
);

export const StreamAnalytics = namedSchema(
  'StreamAnalytics',
  Type.Object({
    ...HEAD,
    streamId: IdOf('str'),
    title: Nullable(Type.String()),
    ...DELETED,
    totals: StreamTotals,
    previous: NullableObject(StreamTotals),
    series: Type.Array(
      Type.Object({
        ...DATE,
        ...VIEWED,
        concurrentAvg: Rate('Null without viewers.'),
        concurrentPeak: Unfiltered(),
        joins: Unfiltered(),
        leaves: Unfiltered(),
        chatMessages: Unfiltered(),
        bitrateKbps: Rate('Null without a broadcast.'),
      }),
    ),
    sessions: Type.Array(
      Type.Object({
        sessionId: Type.String(),
        startedAt: Instant,
        endedAt: Nullable(Instant),
        durationSec: Nullable(Type.Integer({ description: 'Null while the session is live.' })),
        peakConcurrent: Count,
        uniqueViewers: Count,
      }),
    ),
    breakdown: Breakdown,
    sources: Values,
  }),
);
