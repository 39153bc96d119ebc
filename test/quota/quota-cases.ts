import { PLANS, type Plan, type ResourceKey } from '../../src/kernel/plans.ts';
import type { TestApp } from '../harness/app.ts';
import { ingestSession, type TestAccount } from '../harness/factories.ts';
import type { TestResponse } from '../harness/response.ts';
import { waitFor } from '../harness/wait-for.ts';
import { connectRoom, createRoom, joinRoom, mintToken, type RoomClient } from '../rooms/client.ts';
import { copyUpload } from '../uploads/fixture.ts';

/** Account whose requests alternate between the nodes of the platform. */
export interface Customer {
  account: TestAccount;
  key: string;
  nodes: readonly [TestApp, TestApp];
  post(path: string, body?: object): Promise<TestResponse>;
  /** Clients that stay in a room until the end. */
  guests: RoomClient[];
}

/** Case of using up a quota of a plan. */
export interface QuotaCase {
  name: string;
  plan: Plan;
  /** Error codes of the rejection, if other than `QUOTA_EXCEEDED`. */
  refusals?: readonly string[];
  /**
   * Uses all places except the last. @returns a function that requests the last: `taken`, or the error code.
   */
  fill(customer: Customer): Promise<(number: number) => Promise<string>>;
}

/** Number of concurrent requests for the last place. */
export const CONCURRENT_REQUESTS = 8;

const GB = 2 ** 30;
const TARGETS = [{ url: 'rtmp://live.example.com/app', streamKey: 'a-stream-key' }];

async function outcome(answer: Promise<TestResponse>): Promise<string> {
  const made = await answer;
  return made.status < 300 ? 'taken' : String(made.at('error.code'));
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Returns the case of a POST that uses one place, with a different body for each number. */
function posts(plan: Plan, places: number, path: string, body: (number: number) => object): QuotaCase {
  return {
    name: `POST ${path}`,
    plan,
    async fill({ post }) {
      const made = await Promise.all(times(places - 1).map((number) => post(path, body(number))));
      for (const answer of made) answer.assertOk(201);
      return (number) => outcome(post(path, body(places + number)));
    },
  };
}

const streams = ({ post }: Customer, count: number) =>
  Promise.all(
    times(count).map(async () => (await post('/streams', { title: 'A' })).assertOk(201).string('data.id')),
  );

function stores(path: '/upload' | '/videos', file: object): QuotaCase {
  const left = 3 * GB;
  return {
    name: `POST ${path}`,
    plan: 'FREE',
    async fill({ post }) {
      (await post(path, { ...file, sizeBytes: PLANS.FREE.storageBytes - left })).assertOk(201);
      return () => outcome(post(path, { ...file, sizeBytes: left }));
    },
  };
}

const uploads: QuotaCase = {
  name: 'POST /upload',
  plan: 'FREE',
  async fill({ post, nodes: [{ container }] }) {
    const open = () => post('/upload', { filename: 'a.mp4', sizeBytes: 3 });
    const id = (await open()).assertOk(201).string('data.id');
    await copyUpload(container.sql, id, PLANS.FREE.openUploads - 2);
    return () => outcome(open());
  },
};

const broadcasts: QuotaCase = {
  name: 'POST /streams/{id}/start',
  plan: 'STAR',
  async fill(customer) {
    const [first, ...others] = await streams(customer, CONCURRENT_REQUESTS + 1);
    (await customer.post(`/streams/${first}/start`)).assertOk(200);
    return (number) => outcome(customer.post(`/streams/${others[number]}/start`));
  },
};

/** Encoders and bridges share the same places. */
const encoders: QuotaCase = {
  name: 'a publish, and POST /bridges',
  plan: 'FREE',
  refusals: ['QUOTA_EXCEEDED', 'the encoder limit of the plan is reached'],
  async fill(customer) {
    const [first = '', ...others] = await streams(customer, CONCURRENT_REQUESTS + 1);
    const [one, other] = customer.nodes;
    await one.container.signals.publishStarted(ingestSession(first));
    return async (number) => {
      const streamId = others[number] ?? '';
      if (number % 2 === 0) {
        const published = other.container.signals.publishStarted(ingestSession(streamId));
        return published.then(() => 'taken').catch(({ message }) => String(message));
      }
      const sourceUrl = 'https://live.example.com/event/master.m3u8';
      return outcome(customer.post('/bridges', { type: 'PULL_TO_STREAM', sourceUrl, targetId: streamId }));
    };
  },
};

/** Creates targets by new restreams, and by adding to an existing one. */
const targets: QuotaCase = {
  name: 'POST /restreams and POST /restreams/{id}/targets',
  plan: 'FREE',
  async fill(customer) {
    const { post } = customer;
    const [one, other] = await streams(customer, 2);
    const id = (await post('/restreams', { streamId: one, targets: TARGETS }))
      .assertOk(201)
      .string('data.id');
    return (number) =>
      outcome(
        number % 2 === 0
          ? post('/restreams', { streamId: other, targets: TARGETS })
          : post(`/restreams/${id}/targets`, TARGETS[0]),
      );
  },
};

const seats: QuotaCase = {
  name: 'a join',
  plan: 'FREE',
  refusals: ['4409'],
  async fill({ key, nodes, guests }) {
    const [one] = nodes;
    const id = await createRoom(one, key);
    const taken = PLANS.FREE.roomParticipants - 1;
    const come = (number: number) => joinRoom(one, key, id, { identity: `guest ${number}` });
    guests.push(...(await Promise.all(times(taken).map(come))));
    const tokens = await Promise.all(
      times(CONCURRENT_REQUESTS).map((number) => mintToken(one, key, id, { identity: `late ${number}` })),
    );
    return async (number) => {
      const client = connectRoom(nodes[number % 2 === 0 ? 0 : 1], id, [tokens[number] ?? '']);
      guests.push(client);
      const isIn = () => client.messages.some(({ type }) => type === 'welcome') && 'taken';
      return waitFor(() => isIn() || (client.closed !== null && String(client.closed.code)));
    };
  },
};

/** Each resource of a plan with the ways to use it up; none where it is only counted. */
export const QUOTA_CASES: Readonly<Record<ResourceKey, readonly QuotaCase[]>> = {
  STORAGE_BYTES: [stores('/upload', { filename: 'a.mp4' }), stores('/videos', { title: 'A' })],
  VIDEO_MINUTES: [],
  OPEN_UPLOADS: [uploads],
  CONCURRENT_STREAMS: [broadcasts],
  LIVE_MINUTES: [],
  ENCODERS: [encoders],
  RESTREAM_TARGETS: [targets],
  ROOM_PARTICIPANTS: [seats],
  ROOM_MINUTES: [],
  EGRESS_BYTES: [],
  // The owner has one.
  TEAM_SEATS: [
    posts('STAR', PLANS.STAR.teamSeats - 1, '/team/invitations', (number) => ({
      email: `seat${number}@example.com`,
      teamRole: 'EDITOR',
    })),
  ],
  WEBHOOKS: [
    posts('FREE', PLANS.FREE.webhooks, '/me/webhooks', (number) => ({
      url: `https://receiver.example.com/${number}`,
      events: [],
    })),
  ],
  // The calling key is the first one.
  API_KEYS: [posts('FREE', PLANS.FREE.apiKeys - 1, '/me/api-keys', (number) => ({ name: `Key ${number}` }))],
  INTEGRATION_DOMAINS: [
    posts('STAR', PLANS.STAR.integrationDomains, '/me/integration-domains', (number) => ({
      domain: `shop${number}.example.com`,
    })),
  ],
};
