import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { isOk, type Sample, sample } from './requests.ts';

const PAUSE_MS = 100;
const RETRY_MS = 250;
const TITLE = 'Write';

/** Client that creates streams and repeats each with its idempotency key until it is acknowledged. */
export interface Writer {
  samples: Sample[];
  /** Titles of acknowledged writes. */
  acknowledged: Set<string>;
  stop(): Promise<void>;
}

export function startWriter(api: string, headers: Record<string, string>): Writer {
  const samples: Sample[] = [];
  const acknowledged = new Set<string>();
  let isStopped = false;
  const write = async () => {
    const key = randomUUID();
    const title = `${TITLE} ${key}`;
    while (!isStopped) {
      const response = await sample(`${api}/streams`, {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': key },
        body: { title },
      });
      samples.push(response.sample);
      if (isOk(response.sample)) {
        acknowledged.add(title);
        return;
      }
      await sleep(RETRY_MS);
    }
  };
  const work = async () => {
    while (!isStopped) {
      await write();
      await sleep(PAUSE_MS);
    }
  };
  const worked = work();
  return {
    samples,
    acknowledged,
    async stop() {
      isStopped = true;
      await worked;
    },
  };
}

export interface WrittenRows {
  acknowledged: number;
  lost: number;
  doubled: number;
}

/** Compares the acknowledged writes with the rows of the database. */
export async function countWrites(databaseUrl: string, writers: readonly Writer[]): Promise<WrittenRows> {
  const acknowledged = new Set(writers.flatMap((writer) => [...writer.acknowledged]));
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  const rows = await sql<{ title: string; rows: number }[]>`
    select title, count(*)::integer as rows from stream where title like ${`${TITLE} %`} group by title`;
  await sql.end();
  const found = new Set(rows.map(({ title }) => title));
  return {
    acknowledged: acknowledged.size,
    lost: [...acknowledged].filter((title) => !found.has(title)).length,
    doubled: rows.filter((row) => row.rows > 1).length,
  };
}
