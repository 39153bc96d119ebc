/**
 * Predicts the use of a cluster and its first limit (docs/operations/capacity.md):
 * `npm run capacity -- profile.json [costs.json]`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Type from 'typebox';
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import {
  connectionsOf,
  drawBusiest,
  type Limit,
  limitsOf,
  mediaBytesOf,
  percentile,
  ratesOf,
  trafficOf,
  useOf,
} from './capacity/model.ts';
import { Costs, Profile } from './capacity/schemas.ts';

const DRAWS = 1000;
const EXAMPLES = join(import.meta.dirname, '../docs/operations');
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

function read<T extends TSchema>(schema: T, path: string): Type.Static<T> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const [first] = Value.Errors(schema, value);
    if (first !== undefined) throw new Error(`${first.instancePath} ${first.message}`.trim());
    return Value.Parse(schema, value);
  } catch (error) {
    process.stderr.write(`capacity: ${path}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ');
  process.stdout.write(`${rows.map(line).join('\n')}\n`);
}

const round = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));

function hourRow(profile: Profile, costs: Costs, hour: number): string[] {
  const rates = ratesOf(profile, hour);
  const { layout } = profile;
  const use = useOf(costs, rates, layout.api.nodes + layout.media.nodes + layout.worker.nodes);
  const { apiOutBits, mediaInBits } = trafficOf(profile, rates);
  const { work, processMb } = costs;
  const memoryMb =
    rates.broadcast * work.broadcast.memoryMb +
    rates.broadcastWithRungs * work.broadcastWithRungs.memoryMb +
    rates.restream * work.restream.memoryMb +
    layout.api.nodes * layout.api.processes * processMb.api +
    layout.media.nodes * layout.media.processes * processMb.media +
    layout.worker.nodes * layout.worker.processes * processMb.worker;
  const { api, media, worker, database } = use.cores;
  return [
    String(hour).padStart(2, '0'),
    ...[api, media, worker, database, memoryMb / 1024].map(round),
    ...[apiOutBits / 1e9, mediaInBits / 1e9, use.commitsPerSec, use.walBytesPerSec / 1e6].map(round),
    String(connectionsOf(layout)),
    ...[(use.databaseBytesPerSec * 3600) / 1e9, mediaBytesOf(profile, rates) / 1e9].map(round),
  ];
}

function limitRow({ name, used, available, unit }: Limit): string[] {
  return [name, round(used), round(available), unit, `${Math.round((100 * used) / available)} %`];
}

function main([profilePath, costsPath = join(EXAMPLES, 'costs.json')]: readonly string[]): void {
  if (profilePath === undefined) {
    process.stderr.write('usage: npm run capacity -- profile.json [costs.json]\n');
    process.exit(1);
  }
  const [profile, costs] = [read(Profile, profilePath), read(Costs, costsPath)];
  const { layout } = profile;
  process.stdout.write(`Costs of ${costs.machine}, ${costs.measuredOn}\n\n`);
  printTable([
    [
      ...['hour', 'api cores', 'media cores', 'worker cores', 'database cores', 'memory GB', 'api Gbit/s'],
      ...['media Gbit/s', 'commits/s', 'WAL MB/s', 'connections', 'database GB', 'media GB'],
    ],
    ...HOURS.map((hour) => hourRow(profile, costs, hour)),
  ]);
  const peakHour = HOURS.reduce((a, b) => ((profile.day[b] ?? 0) > (profile.day[a] ?? 0) ? b : a));
  const rates = ratesOf(profile, peakHour);
  const drawn = drawBusiest({ profile, costs, layout }, rates, { draws: DRAWS, random: Math.random });
  const busiest = {
    cores: percentile(
      drawn.map(({ cores }) => cores),
      0.99,
    ),
    networkBits: percentile(
      drawn.map(({ networkBits }) => networkBits),
      0.99,
    ),
    memoryMb: percentile(
      drawn.map(({ memoryMb }) => memoryMb),
      0.99,
    ),
  };
  const limits = limitsOf({ profile, costs, layout, rates, busiest });
  process.stdout.write(`\nPeak at ${peakHour} h with one lost node per role, 99 % of ${DRAWS} draws\n\n`);
  printTable([['limit', 'used', 'available', '', 'share'], ...limits.map(limitRow)]);
  const [first] = limits;
  if (first === undefined) return;
  const factor = first.available / first.used;
  const when = factor < 1 ? 'exceeded now' : `reached at ${factor.toFixed(1)} times this load`;
  process.stdout.write(`\nFirst limit: ${first.name}, ${when}. ${first.remedy}\n`);
}

main(process.argv.slice(2));
