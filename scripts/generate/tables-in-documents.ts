import { RELEASES } from '../../src/features/integration/changelog/releases.ts';
import { PLANS, type PlanLimits } from '../../src/kernel/plans.ts';
import type { Release } from '../../src/kernel/release.ts';

/** Replaces the lines between the two marker comments of a document. */
export function withTable(document: string, name: string, table: string[]): string {
  const [first, last] = [`<!-- ${name}: written by npm run generate -->`, `<!-- end of ${name} -->`];
  const begin = document.indexOf(first);
  const end = document.indexOf(last);
  if (begin < 0 || end < begin) throw new Error(`the document must have the lines "${first}" and "${last}"`);
  return `${document.slice(0, begin)}${first}\n${table.join('\n')}\n${document.slice(end)}`;
}

const GB = 2 ** 30;
const inBytes = (bytes: number) => (bytes < 1024 * GB ? `${bytes / GB} GB` : `${bytes / GB / 1024} TB`);

/** Every limit has its row: a new one does not compile without. */
const LIMITS: Readonly<Record<keyof PlanLimits, [label: string, show: (plan: PlanLimits) => string]>> = {
  furtherCodecs: ['HEVC and AV1 renditions', ({ furtherCodecs }) => (furtherCodecs ? 'yes' : 'no')],
  maxUploadHeight: ['Top rendition of a video', (plan) => `${plan.maxUploadHeight}p`],
  maxLiveHeight: ['Live resolution', (plan) => `${plan.maxLiveHeight}p`],
  maxLiveKbps: ['Live bitrate', (plan) => `${plan.maxLiveKbps / 1000} Mbit/s`],
  concurrentStreams: ['Concurrent broadcasts', (plan) => String(plan.concurrentStreams)],
  storageBytes: ['Storage', (plan) => inBytes(plan.storageBytes)],
  encoders: ['Concurrent encoders', (plan) => String(plan.encoders)],
  openUploads: ['Open uploads', (plan) => String(plan.openUploads)],
  restreamTargets: ['Restream targets', (plan) => String(plan.restreamTargets)],
  roomParticipants: ['Participants in a room', (plan) => String(plan.roomParticipants)],
  roomHours: ['Duration of a room', ({ roomHours }) => (roomHours === 1 ? '1 hour' : `${roomHours} hours`)],
  teamSeats: ['Team seats, including the owner', (plan) => String(plan.teamSeats)],
  webhooks: ['Webhooks', (plan) => String(plan.webhooks)],
  apiKeys: ['API keys', (plan) => String(plan.apiKeys)],
  integrationDomains: ['Integration domains', (plan) => String(plan.integrationDomains)],
  recordingRetentionDays: [
    'Recording retention',
    ({ recordingRetentionDays: days }) => (days === null ? 'unlimited' : `${days} days`),
  ],
  priority: ['Weight of background jobs', (plan) => String(plan.priority + 1)],
};

/** The page of the plans with their table. */
export function withPlansTable(page: string): string {
  const plans = Object.values(PLANS);
  const rows = Object.values(LIMITS).map(([label, show]) => `| ${label} | ${plans.map(show).join(' | ')} |`);
  return withTable(page, 'plans', [
    `| | ${Object.keys(PLANS).join(' | ')} |`,
    `| --- |${' --- |'.repeat(plans.length)}`,
    ...rows,
  ]);
}

/** The changelog of the program with the releases of the interface, newest first. */
export function withReleases(changelog: string): string {
  return withTable(changelog, 'releases', RELEASES.toReversed().flatMap(linesOf));
}

function linesOf({ version, date, entries }: Release): string[] {
  const lines = entries.map(({ type, title, description, breaking }) => {
    const mark = breaking === true ? `${type}, breaking` : type;
    return `- ${mark}: **${title}**. ${description}`;
  });
  return ['', `### ${version} (${date ?? 'to come'})`, '', ...lines, ''];
}
