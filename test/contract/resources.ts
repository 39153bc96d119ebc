import { apiKeyExpiring } from '../../src/features/identity/api-keys/events.ts';
import { memoizeAsync } from '../../src/kernel/cache.ts';
import { newUuid } from '../../src/kernel/ids.ts';
import type { TestApp } from '../harness/app.ts';
import { ingestSession, joinTeam } from '../harness/factories.ts';
import { buyer } from '../money/buyer.ts';

/** Values of the path parameters of one path, as owned by one workspace. */
export type PathValues = Record<string, string>;

/** Paths of account resources, which both modes share (docs/decisions/tenancy.md). */
export const ACCOUNT_LEVEL: readonly string[] = [
  '/notifications/{id}',
  '/support/tickets/{id}',
  '/team/invitations/{id}',
  '/team/members/{id}',
];

/** Paths with a public name instead of an ID. */
export const PUBLIC_NAMES: readonly string[] = [
  '/quota/{key}',
  '/users/{username}',
  '/users/{username}/subscribe',
  '/channel/{username}',
  '/channel/{username}/videos',
  '/channel/{username}/streams',
  '/channel/{username}/playlists',
];

/** Paths that require a key of the test mode. */
export const TEST_MODE_ONLY: readonly string[] = [
  '/booking/bookings/{id}/simulate',
  '/checkout/{id}/simulate',
  '/streams/{id}/simulate-signal',
  '/me/subscriptions/{id}/simulate',
];

/** Origin of the platform itself, which origin-locked endpoints accept. */
export const FROM_PLATFORM = { origin: 'http://marquee.test' };

const PRODUCT = { title: 'An hour', type: 'ONE_TO_ONE', priceCents: 0 };

/** A checkout of a tier. */
async function checkout(create: (path: string, body: object) => Promise<string>): Promise<string> {
  const tierId = await create('/tiers', { name: 'A tier', priceCents: 500, interval: 'MONTH' });
  const { origin } = FROM_PLATFORM;
  return create('/checkout/subscription', { tierId, successUrl: origin, cancelUrl: origin });
}

type Makers = Map<string, () => Promise<PathValues>>;

/**
 * Returns functions that create one resource of every kind in the workspace of a key, by path prefix. A new
 * kind of resource belongs here: the tests that walk the OpenAPI document reject a path that matches no
 * prefix.
 */
function makersOf(app: TestApp, key: string): Makers {
  const create = async (path: string, body: object) =>
    (await app.request('POST', path, { key, headers: FROM_PLATFORM, body })).assertOk(201).string('data.id');
  const made = (path: string, body: object) => async () => ({ id: await create(path, body) });
  const stream = memoizeAsync(async () => {
    const id = await create('/streams', { title: 'A stream' });
    await app.container.signals.publishStarted(ingestSession(id));
    return id;
  });
  const delivered = memoizeAsync(async () => {
    const body = { url: 'https://receiver.example.com/', events: ['webhook.test'] };
    const id = await create('/me/webhooks', body);
    return { id, deliveryId: await deliver(app, key, id) };
  });
  const cohortWithVideo = memoizeAsync(() => cohort(create));
  return new Map<string, () => Promise<PathValues>>([
    ['/streams/{id}', async () => ({ id: await stream(), ...(await chat(create, await stream())) })],
    ['/restreams/{id}', async () => restream(app, key, await stream())],
    ['/bridges/{id}', async () => ({ id: await bridge(create) })],
    [
      '/rooms/{id}',
      async () => ({
        id: await create('/rooms', { name: 'A room' }),
        identity: `person-${newUuid().slice(0, 8)}`,
      }),
    ],
    ['/me/webhooks/{id}', delivered],
    [
      '/me/events/{eventId}',
      async () => {
        await delivered();
        const events = await app.request('GET', '/me/events?limit=1', { key });
        return { eventId: events.assertOk(200).string('data.0.id') };
      },
    ],
    ['/videos/{id}', () => video(app, key)],
    ['/analytics/videos/{id}', () => video(app, key)],
    ['/analytics/streams/{id}', async () => ({ id: await stream() })],
    ['/playlists/{id}', () => playlist(app, key)],
    ['/upload/{id}', made('/upload', { filename: 'a.mp4', sizeBytes: 10 })],
    ['/imports/{id}', made('/imports', { sourceUrl: 'https://files.example.com/a.mp4' })],
    ['/checkout/{id}', async () => ({ id: await checkout(create) })],
    [
      '/channels/{id}',
      async () => ({
        id: (await app.request('GET', '/channels', { key })).assertOk(200).string('data.0.id'),
      }),
    ],
    // Every live key reads the tiers that take members.
    ['/tiers/{id}', made('/tiers', { name: 'A tier', priceCents: 500, interval: 'MONTH', isActive: false })],
    ['/me/subscriptions/{id}', async () => ({ id: await subscription(app, create) })],
    ['/booking/bookings/{id}', async () => ({ id: await booking(app, key, create) })],
    ['/booking/discount-codes/{id}', made('/booking/discount-codes', { code: newUuid(), percentOff: 10 })],
    ['/booking/waitlist/{id}', async () => ({ id: await waiting(create) })],
    ['/booking/calendars/{id}', made('/booking/calendars', { url: 'https://cal.example.com/a.ics' })],
    ['/booking/products/{id}', made('/booking/products', PRODUCT)],
    ['/booking/products/{productId}', async () => ({ productId: (await cohortWithVideo()).productId })],
    [
      '/booking/cohorts/{cohortId}',
      async () => {
        const { cohortId, cvId } = await cohortWithVideo();
        return { cohortId, cvId };
      },
    ],
    ['/purchases/{id}', async () => ({ id: await purchase(app, await stream()) })],
    ['/notifications/{id}', async () => ({ id: await notification(app, key) })],
    ['/subscribers/{id}', made('/subscribers', { email: 'grace@example.com' })],
    ['/support/tickets/{id}', made('/support/tickets', { subject: 'A question', message: 'Why?' })],
    [
      '/team/invitations/{id}',
      made('/team/invitations', { email: `${newUuid()}@example.com`, teamRole: 'EDITOR' }),
    ],
    ['/team/members/{id}', async () => ({ id: await member(app, key) })],
    ['/me/api-keys/{id}', made('/me/api-keys', { name: 'Another' })],
    [
      '/me/integration-domains/{id}',
      made('/me/integration-domains', { domain: `d${newUuid().slice(0, 8)}.example.com` }),
    ],
  ]);
}

/** One resource of every kind in the workspace of a key. */
export async function makeResources(app: TestApp, key: string): Promise<Map<string, PathValues>> {
  const resources = new Map<string, PathValues>();
  for (const [prefix, make] of makersOf(app, key)) resources.set(prefix, await make());
  return resources;
}

/** Creates only the resource that a path names; undefined if there is none. */
export async function makeResourceOf(
  app: TestApp,
  key: string,
  path: string,
): Promise<PathValues | undefined> {
  return valuesFor(makersOf(app, key), path)?.();
}

/** Creates a team member. @returns its ID. */
async function member(app: TestApp, key: string): Promise<string> {
  const team = (await app.request('GET', '/team', { key })).assertOk(200);
  const { id: userId } = await app.createAccount();
  return joinTeam(app.container.db, { accountId: team.string('data.accountId'), userId, teamRole: 'EDITOR' });
}

/** Creates a waitlist entry for any slot of a product. */
async function waiting(create: (path: string, body: object) => Promise<string>): Promise<string> {
  const productId = await create('/booking/products', PRODUCT);
  return create(`/booking/products/${productId}/waitlist`, { email: `${newUuid()}@example.com` });
}

/** Creates a subscription to a free tier. */
async function subscription(
  { container: { db, events, payments, subscriptions } }: TestApp,
  create: (path: string, body: object) => Promise<string>,
): Promise<string> {
  const tierId = await create('/tiers', { name: 'A free tier', priceCents: 0, interval: 'MONTH' });
  const tier = await db
    .selectFrom('tier')
    .select('workspace_id as workspaceId')
    .where('id', '=', tierId)
    .executeTakeFirstOrThrow();
  const { id } = await events.transaction(async (tx, append) => {
    const who = { email: `${newUuid()}@example.com`, name: null };
    const { id: customerId } = await payments.customerFor(tx, tier.workspaceId, who);
    return subscriptions.begin(
      { tx, append },
      {
        ...{ ...tier, customerId, tierId, priceCents: 0, interval: 'MONTH', trialDays: 0, discountCents: 0 },
        ...{ checkoutId: null, purchaseId: null, discountCode: null, clientReferenceId: null },
        paymentMethod: null,
        wasClaimed: false,
      },
    );
  });
  return id;
}

/** A cohort with a video. */
async function cohort(create: (path: string, body: object) => Promise<string>) {
  const productId = await create('/booking/products', { ...PRODUCT, type: 'COHORT' });
  const startsAt = '2100-01-01T09:00:00Z';
  const cohortId = await create(`/booking/products/${productId}/cohorts`, { startsAt });
  const videoId = await create('/videos', { title: 'A lesson' });
  const cvId = await create(`/booking/cohorts/${cohortId}/videos`, { videoId });
  return { productId, cohortId, cvId };
}

/** Creates a booking of a free product. */
async function booking(
  app: TestApp,
  key: string,
  create: (path: string, body: object) => Promise<string>,
): Promise<string> {
  const body = { weeklyJson: { mon: [{ start: '00:00', end: '24:00' }] } };
  (await app.request('PUT', '/booking/availability', { key, body })).assertOk(200);
  // Otherwise both modes of the account would get a notification.
  const channels = { email: true, inApp: true };
  const types = { 'booking.confirmed': { email: false, inApp: false } };
  (await app.request('PUT', '/notifications/preferences', { key, body: { channels, types } })).assertOk(200);
  const lesson = { title: 'A lesson', type: 'ONE_TO_ONE', priceCents: 0 };
  const productId = await create('/booking/products', lesson);
  (await app.request('POST', `/booking/products/${productId}/publish`, { key })).assertOk(200);
  const slots = (await app.request('GET', `/booking/products/${productId}/slots`, { key })).assertOk(200);
  const { origin } = FROM_PLATFORM;
  const customer = { name: 'Ann', email: 'ann@example.com' };
  const checkoutId = await create('/checkout/booking', {
    ...{ productId, customer, startsAt: slots.string('data.slots.0.startsAt') },
    ...{ successUrl: origin, cancelUrl: origin },
  });
  const made = await app.request('GET', `/checkout/${checkoutId}`, { key, headers: FROM_PLATFORM });
  return made.assertOk(200).string('data.bookingId');
}

/** A message in the chat of a stream, and a ban. */
async function chat(
  create: (path: string, body: object) => Promise<string>,
  stream: string,
): Promise<PathValues> {
  const authorId = 'gst_01kafe3n4pfx2v9yq6m8d7t5zr';
  return {
    messageId: await create(`/streams/${stream}/chat`, { text: 'A message' }),
    banId: await create(`/streams/${stream}/chat/bans`, { authorId }),
  };
}

/** A restream with one target. */
async function restream(app: TestApp, key: string, streamId: string): Promise<PathValues> {
  const body = { streamId, targets: [{ url: 'rtmp://live.example.com/app', streamKey: 'a-stream-key' }] };
  const made = (await app.request('POST', '/restreams', { key, body })).assertOk(201);
  return { id: made.string('data.id'), targetId: made.string('data.targets.0.id') };
}

/** Creates a bridge into a separate stream. */
async function bridge(create: (path: string, body: object) => Promise<string>): Promise<string> {
  const targetId = await create('/streams', { title: 'A target' });
  const sourceUrl = 'https://live.example.com/a.m3u8';
  return create('/bridges', { type: 'PULL_TO_STREAM', sourceUrl, targetId });
}

/** A row of the log: the receiver does not exist, so the attempt fails. */
async function deliver(app: TestApp, key: string, webhook: string): Promise<string> {
  return (await app.request('POST', `/me/webhooks/${webhook}/test`, { key }))
    .assertOk(200)
    .string('data.deliveryId');
}

/** Creates a video with captions, in a language that occurs in no other text. */
async function video(app: TestApp, key: string): Promise<PathValues> {
  const id = (await app.request('POST', '/videos', { key, body: { title: 'A video' } }))
    .assertOk(201)
    .string('data.id');
  const body = {
    language: `en-x-${newUuid().slice(0, 8)}`,
    content: 'WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n',
  };
  const made = await app.request('POST', `/videos/${id}/captions`, { key, body });
  return { id, language: made.assertOk(201).string('data.language') };
}

/** Creates a playlist with one item, whose video waits for its file. */
async function playlist(app: TestApp, key: string): Promise<PathValues> {
  const post = async (path: string, body: object) =>
    (await app.request('POST', path, { key, body })).assertOk(201);
  const videoId = (await post('/upload', { filename: 'a.mp4', sizeBytes: 10 })).string('data.videoId');
  const id = (await post('/playlists', { title: 'A playlist' })).string('data.id');
  return { id, itemId: (await post(`/playlists/${id}/items`, { videoId })).string('data.id') };
}

/** Inserts a purchase in the workspace of a stream. */
async function purchase(app: TestApp, streamId: string): Promise<string> {
  const { workspace_id: workspaceId } = await app.container.db
    .selectFrom('stream')
    .select('workspace_id')
    .where('id', '=', streamId)
    .executeTakeFirstOrThrow();
  const { pay } = await buyer(app, workspaceId);
  return (await pay('4242424242424242')).purchaseId;
}

/** Inserts a notification of the account that refers to a fictitious key. */
async function notification(app: TestApp, key: string): Promise<string> {
  const accountId = (await app.request('GET', '/me', { key })).assertOk(200).string('data.id');
  const { id: workspaceId } = await app.container.db
    .selectFrom('workspace')
    .select('id')
    .where('account_id', '=', accountId)
    .where('mode', '=', 'live')
    .executeTakeFirstOrThrow();
  // Whatever the account has chosen: it is to be in the list.
  const body = { channels: { email: false, inApp: true } };
  (await app.request('PUT', '/notifications/preferences', { key, body })).assertOk(200);
  await app.container.events.transaction(async (_tx, append) => {
    await append(apiKeyExpiring, workspaceId, apiKeyExpiring.sample);
  });
  return (await app.request('GET', '/notifications', { key })).assertOk(200).string('data.0.id');
}

/** The values for a path, or undefined when no resource fits. */
export function valuesFor<T>(resources: ReadonlyMap<string, T>, path: string): T | undefined {
  for (const [prefix, values] of resources) if (path.startsWith(prefix)) return values;
  return undefined;
}
