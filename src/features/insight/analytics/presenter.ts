import type { Static } from 'typebox';
import type { AnalyticsBreakdownDimension } from '../../../platform/db/tables.generated.ts';
import { countryName, labelOf } from './labels.ts';
import type { BreakdownRow, SubjectRow, ValueRow } from './reads.repository.ts';
import { type MetricTotals, minutes, percent, ratio, seconds } from './reads.rules.ts';
import type { AccountReport, ReportHeader, Series, StreamReport, VideoReport } from './reads.service.ts';
import type {
  AccountAnalytics,
  CountryRow,
  RowsHead,
  StreamAnalytics,
  StreamRow,
  Values,
  VideoAnalytics,
  VideoRow,
} from './schemas.ts';

export function toHead({ range, generatedAt, freshUntil }: ReportHeader): Static<typeof RowsHead> {
  return {
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    timezone: range.timezone,
    granularity: range.granularity,
    generatedAt: generatedAt.toISOString(),
    dataFreshUntil: freshUntil?.toISOString() ?? null,
  };
}

const viewed = ({ views, uniqueViewers, watchMs }: MetricTotals | ValueRow | SubjectRow) => ({
  views,
  uniqueViewers,
  watchTimeSec: seconds(watchMs),
});
const average = ({ views, watchMs }: MetricTotals) => ({ avgViewDurationSec: ratio(watchMs / 1000, views) });
const percentViewed = ({ views, watchMs }: MetricTotals, durationSec: number | null) => ({
  avgPercentViewed: durationSec === null ? null : percent(watchMs / 1000, views * durationSec),
});

/** Function that returns null for values that are unknown under a filter. */
type Known = <T>(value: T) => T | null;
const knownIn = (share: unknown): Known => (share === null ? (value) => value : () => null);

const shown = ({ impressions, plays }: MetricTotals, known: Known) => ({
  impressions: known(impressions),
  playRate: known(ratio(plays, impressions, 4)),
});
const onAir = (sums: MetricTotals, known: Known) => ({
  broadcasts: known(sums.broadcasts),
  liveMinutes: known(minutes(sums.liveMs)),
  peakConcurrent: known(sums.peakViewers),
  avgConcurrent: known(ratio(sums.viewerSamplesSum, sums.viewerSamples)),
  chatMessages: known(sums.chatMessages),
});
const bitrate = ({ bitrateKbit, liveMs }: MetricTotals) => ratio(bitrateKbit * 1000, liveMs, 0);

function seriesOf<T, P>(
  { head, totals, previous }: Series,
  total: (sums: MetricTotals) => T,
  series: readonly P[],
) {
  return {
    ...toHead(head),
    totals: total(totals),
    previous: previous === null ? null : total(previous),
    series: [...series],
  };
}

function piecesOf<P>({ series, share }: Series, piece: (sums: MetricTotals, known: Known) => P) {
  const known = knownIn(share);
  return series.map(({ date, ...sums }) => ({ date, ...piece(sums, known) }));
}

export const accountBuckets = (report: Series) =>
  piecesOf(report, (sums, known) => ({
    ...viewed(sums),
    newFollowers: known(sums.newFollowers),
    liveMinutes: known(minutes(sums.liveMs)),
  }));

export const videoBuckets = (report: Series) =>
  piecesOf(report, (sums, known) => ({
    ...viewed(sums),
    impressions: known(sums.impressions),
    plays: known(sums.plays),
  }));

export const streamBuckets = (report: Series) =>
  piecesOf(report, (sums, known) => ({
    ...viewed(sums),
    concurrentAvg: known(ratio(sums.viewerSamplesSum, sums.viewerSamples)),
    concurrentPeak: known(sums.peakViewers),
    joins: known(sums.joins),
    leaves: known(sums.leaves),
    chatMessages: known(sums.chatMessages),
    bitrateKbps: known(bitrate(sums)),
  }));

export function toAccount(report: AccountReport): Static<typeof AccountAnalytics> {
  const known = knownIn(report.share);
  const total = (sums: MetricTotals) => ({
    ...viewed(sums),
    ...average(sums),
    newFollowers: known(sums.newFollowers),
    lostFollowers: known(sums.lostFollowers),
    liveBroadcasts: known(sums.broadcasts),
    liveMinutes: known(minutes(sums.liveMs)),
    peakConcurrent: known(sums.peakViewers),
  });
  const top = ({ title, views, watchMs }: SubjectRow) => ({ title, views, watchTimeSec: seconds(watchMs) });
  return {
    ...seriesOf(report, total, accountBuckets(report)),
    topVideos: report.topVideos.map((row) => ({ videoId: row.id, ...top(row) })),
    topStreams: report.topStreams.map((row) => ({ streamId: row.id, ...top(row) })),
    breakdown: breakdownOf(report.breakdown),
    sources: valuesOf(report.breakdown, 'source'),
  };
}

export function toVideoRow(row: SubjectRow, share: unknown): Static<typeof VideoRow> {
  return {
    videoId: row.id,
    title: row.title,
    publishedAt: row.publishedAt?.toISOString() ?? null,
    deletedAt: row.deletedAt?.toISOString() ?? null,
    ...viewed(row),
    ...average(row),
    ...percentViewed(row, row.durationSec),
    ...shown(row, knownIn(share)),
  };
}

export function toStreamRow(row: SubjectRow, share: unknown): Static<typeof StreamRow> {
  const { id: streamId, title, deletedAt } = row;
  return {
    streamId,
    title,
    deletedAt: deletedAt?.toISOString() ?? null,
    ...viewed(row),
    ...onAir(row, knownIn(share)),
  };
}

export function toCountry(row: ValueRow): Static<typeof CountryRow> {
  return {
    countryCode: row.id,
    country: countryName(row.id),
    ...viewed(row),
    sharePercent: percent(row.views, row.allViews),
  };
}

function valuesOf(rows: readonly BreakdownRow[], of: AnalyticsBreakdownDimension): Static<typeof Values> {
  return rows
    .filter(({ dimension }) => dimension === of)
    .map(({ value, views, watchMs }) => ({
      key: value,
      label: labelOf(of, value),
      views,
      watchTimeSec: seconds(watchMs),
    }));
}

const breakdownOf = (rows: readonly BreakdownRow[]) => ({
  country: valuesOf(rows, 'country'),
  device: valuesOf(rows, 'device'),
  browser: valuesOf(rows, 'browser'),
  os: valuesOf(rows, 'os'),
  referrer: valuesOf(rows, 'referrer'),
});

export function toVideo(report: VideoReport): Static<typeof VideoAnalytics> {
  const { id: videoId, named: video, retention, breakdown } = report;
  const known = knownIn(report.share);
  const total = (sums: MetricTotals) => ({
    ...viewed(sums),
    ...average(sums),
    ...percentViewed(sums, video.durationSec),
    ...shown(sums, known),
    plays: known(sums.plays),
  });
  return {
    ...seriesOf(report, total, videoBuckets(report)),
    videoId,
    title: video.title,
    deletedAt: video.deletedAt?.toISOString() ?? null,
    retention: retention.watched.map((watched, second) => ({
      second,
      percent: percent(watched, retention.views),
    })),
    breakdown: { ...breakdownOf(breakdown), quality: valuesOf(breakdown, 'quality') },
    sources: valuesOf(breakdown, 'source'),
  };
}

export function toStream(report: StreamReport): Static<typeof StreamAnalytics> {
  const { id: streamId, named: stream, sessions, breakdown } = report;
  const known = knownIn(report.share);
  const total = (sums: MetricTotals) => ({
    ...viewed(sums),
    ...average(sums),
    ...onAir(sums, known),
    joins: known(sums.joins),
    leaves: known(sums.leaves),
    bitrateKbps: known(bitrate(sums)),
  });
  return {
    ...seriesOf(report, total, streamBuckets(report)),
    streamId,
    title: stream.title,
    deletedAt: stream.deletedAt?.toISOString() ?? null,
    sessions: sessions.map(({ id, startedAt, endedAt, peakViewers, uniqueViewers }) => ({
      sessionId: id,
      startedAt: startedAt.toISOString(),
      endedAt: endedAt?.toISOString() ?? null,
      durationSec: endedAt === null ? null : seconds(endedAt.getTime() - startedAt.getTime()),
      peakConcurrent: peakViewers,
      uniqueViewers,
    })),
    breakdown: breakdownOf(breakdown),
    sources: valuesOf(breakdown, 'source'),
  };
}
