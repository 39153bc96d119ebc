import { bookingEvents, cohortMovedJob } from '../features/booking/bookings/index.ts';
import { cohortEvents } from '../features/booking/cohorts/index.ts';
import { productEvents } from '../features/booking/products/index.ts';
import { waitlistEvents } from '../features/booking/waitlist/index.ts';
import { checkoutEvents } from '../features/commerce/checkout/index.ts';
import { discountCodeEvents } from '../features/commerce/discount-codes/index.ts';
import { payoutEvents } from '../features/commerce/ledger/index.ts';
import {
  type CollectedCard,
  deleteCustomersJob,
  type Payments,
  paymentEvents,
  settleRefundJob,
} from '../features/commerce/payments/index.ts';
import { type Subscriptions, subscriptionEvents } from '../features/commerce/subscriptions/index.ts';
import { tierEvents } from '../features/commerce/tiers/index.ts';
import type { Accounts } from '../features/identity/accounts/index.ts';
import { apiKeyEvents } from '../features/identity/api-keys/index.ts';
import { domainEvents } from '../features/identity/domains/index.ts';
import { teamEvents } from '../features/identity/team/index.ts';
import { followerEvents } from '../features/identity/users/index.ts';
import type { UsageAggregator } from '../features/insight/usage/index.ts';
import { changelogEvents } from '../features/integration/changelog/index.ts';
import type { Mailbox, MailCaps } from '../features/integration/mail/index.ts';
import { webhookEvents } from '../features/integration/webhooks/index.ts';
import { bridgeEvents } from '../features/live/bridges/index.ts';
import { recordingJob } from '../features/live/recordings/index.ts';
import { restreamEvents } from '../features/live/restreams/index.ts';
import { streamEvents } from '../features/live/streams/index.ts';
import { type Rooms, roomEvents, roomRecordingJob } from '../features/rooms/index.ts';
import { uploadEvents } from '../features/video/uploads/index.ts';
import {
  createVideoIntake,
  createVideoPurge,
  processingJobs,
  transcribeJob,
  type Videos,
  videoEvents,
} from '../features/video/videos/index.ts';
import type { Declarations, FeatureModule, ModuleWithExports } from './feature-module.ts';
import { accountsPart, profilesPart } from './parts/accounts.ts';
import { createPlaybackUrls } from './parts/addresses.ts';
import { apiKeysPart } from './parts/api-keys.ts';
import { createFingerprintServices } from './parts/arrivals.ts';
import { authPart } from './parts/auth.ts';
import { availabilityPart } from './parts/availability.ts';
import { bookingPagesPart } from './parts/booking-pages.ts';
import { bookingsPart } from './parts/bookings.ts';
import { bridgesPart } from './parts/bridges.ts';
import { changelogPart } from './parts/changelog.ts';
import { chatPart } from './parts/chat.ts';
import { checkoutPart } from './parts/checkout.ts';
import { cohortsPart } from './parts/cohorts.ts';
import { discountCodesPart } from './parts/discount-codes.ts';
import { domainsPart } from './parts/domains.ts';
import { dvrPart } from './parts/dvr.ts';
import { eventLogPart } from './parts/event-log.ts';
import { healthPart } from './parts/health.ts';
import { ledgerPart } from './parts/ledger.ts';
import { liveNodesPart } from './parts/live-nodes.ts';
import { mailPart } from './parts/mail.ts';
import { membersPart } from './parts/members.ts';
import { paymentsPart } from './parts/payments.ts';
import { platformPart } from './parts/platform.ts';
import { playbackPart } from './parts/playback.ts';
import { processingPart } from './parts/processing.ts';
import { productsPart } from './parts/products.ts';
import { recordingReady, recordingsPart } from './parts/recordings.ts';
import { requestLogPart } from './parts/request-log.ts';
import { restreamsPart } from './parts/restreams.ts';
import { roomRecordingReady, roomsPart } from './parts/rooms.ts';
import { sessionsPart } from './parts/sessions.ts';
import { slotsPart } from './parts/slots.ts';
import { streamsPart } from './parts/streams.ts';
import { subscriptionsPart } from './parts/subscriptions.ts';
import { teamPart } from './parts/team.ts';
import { tiersPart } from './parts/tiers.ts';
import { uploadsPart } from './parts/uploads.ts';
import { usagePart } from './parts/usage.ts';
import { usersPart } from './parts/users.ts';
import { videosPart } from './parts/videos.ts';
import { waitlistPart } from './parts/waitlist.ts';
import { webhooksPart } from './parts/webhooks.ts';
import { whepPart } from './parts/whep.ts';
import { whipPart } from './parts/whip.ts';
import type { BaseContext } from './wiring.ts';

/** Events and jobs of the core features. */
export const coreDeclarations: Declarations = {
  events: [
    ...streamEvents,
    ...restreamEvents,
    ...bridgeEvents,
    ...roomEvents,
    ...webhookEvents,
    ...apiKeyEvents,
    ...domainEvents,
    ...teamEvents,
    ...videoEvents,
    ...uploadEvents,
    ...tierEvents,
    ...discountCodeEvents,
    ...subscriptionEvents,
    ...checkoutEvents,
    ...paymentEvents,
    ...payoutEvents,
    ...productEvents,
    ...cohortEvents,
    ...waitlistEvents,
    ...bookingEvents,
    ...followerEvents,
    ...changelogEvents,
  ],
  jobs: [
    ...processingJobs,
    transcribeJob,
    recordingJob,
    roomRecordingJob,
    cohortMovedJob,
    deleteCustomersJob,
    settleRefundJob,
  ],
};

/** Registers the module and returns its exports. */
type Register = <T>(built: ModuleWithExports<T>) => T;

/**
 * Builds the features that others depend on, in order of dependency: each gets the platform and, by name, its
 * dependencies among the previous ones.
 */
export function buildCore(base: BaseContext) {
  const parts: FeatureModule[] = [];
  const register: Register = ({ module, exports }) => {
    parts.push(module);
    return exports;
  };
  const { tally, usage } = register(usagePart(base));
  const people = buildAccounts(base, register);
  const { webhooks, failureWatch } = register(webhooksPart(base));
  const media = buildMedia({ ...base, ...people, tally }, register);
  const rooms = register(roomsPart({ ...base, ...media }));
  const money = buildMoney({ ...base, ...people, ...media }, register);
  const booking = buildBooking({ ...base, ...people, ...rooms, ...money }, register);
  const bridges = register(bridgesPart({ ...base, ...media, ...rooms }));
  parts.push(membersPart({ ...base, ...people, ...media, ...money }));
  const checkout = register(checkoutPart({ ...base, ...people, ...media, ...money, ...booking }));
  parts.push(bookingPagesPart({ ...base, ...people, ...booking, ...checkout }));
  const { requestLog } = register(requestLogPart({ ...base, tally }));
  const { changelog } = register(changelogPart({ ...base, ...people }));
  const { profiles } = register(profilesPart({ ...base, ...people }));
  parts.push(
    eventLogPart(base),
    healthPart({ ...base, ...rooms, ...money }),
    sessionsPart({ ...base, ...people, profiles }),
    platformPart(base),
  );
  return {
    core: {
      ...base,
      ...people,
      ...media,
      ...rooms,
      ...bridges,
      ...money,
      ...booking,
      ...checkout,
      webhooks,
      failureWatch,
      requestLog,
      changelog,
      usage,
    },
    parts,
  };
}

/** Dependencies of the features that sell, and of the ledger. */
interface MoneyDeps extends BaseContext {
  accounts: Accounts;
  mailbox: Mailbox;
  mailCaps: MailCaps;
  videos: Videos;
}

function buildMoney(base: MoneyDeps, register: Register) {
  const ledger = register(ledgerPart(base));
  const tiers = register(tiersPart(base));
  const discountCodes = register(discountCodesPart(base));
  const onCardCollected = (card: CollectedCard): Promise<void> => subscriptions.subscriptions.giveCard(card);
  const payments = register(paymentsPart({ ...base, ...ledger, onCardCollected }));
  const subscriptions: { subscriptions: Subscriptions } = register(
    subscriptionsPart({ ...base, ...tiers, ...payments }),
  );
  return { ...ledger, ...tiers, ...discountCodes, ...payments, ...subscriptions };
}

/** Time that creators sell. */
interface BookingDeps extends BaseContext {
  accounts: Accounts;
  mailbox: Mailbox;
  mailCaps: MailCaps;
  payments: Payments;
  rooms: Rooms;
}

function buildBooking(base: BookingDeps, register: Register) {
  const { availability } = register(availabilityPart(base));
  const { products } = register(productsPart(base));
  const { slots } = register(slotsPart({ ...base, products, availability }));
  const { cohorts } = register(cohortsPart({ ...base, availability, products }));
  const checkout = { ...base, availability, products, slots, cohorts };
  const { waitlist } = register(waitlistPart(checkout));
  const booking = register(bookingsPart({ ...checkout, waitlist }));
  return { availability, products, slots, cohorts, waitlist, ...booking };
}

/** Accounts, and who may act for them. */
function buildAccounts(base: BaseContext, register: Register) {
  const { accounts } = register(accountsPart(base));
  const { mailbox, mailCaps } = register(mailPart(base));
  const { apiKeys } = register(apiKeysPart({ ...base, mailbox }));
  const { auth } = register(authPart({ ...base, accounts, mailbox, mailCaps, apiKeys }));
  const { team } = register(teamPart({ ...base, accounts, mailbox, mailCaps, apiKeys, auth }));
  const { domains } = register(domainsPart(base));
  const known = register(usersPart({ ...base, accounts, apiKeys, auth }));
  return { accounts, mailbox, mailCaps, apiKeys, auth, team, domains, ...known };
}

/** Services that identify viewers and followers. */
type MediaDeps = Pick<ReturnType<typeof buildAccounts>, 'follows' | 'followBox' | 'visitors'>;

/** Videos with all that brings and makes them, streams, and how both are watched. */
function buildMedia(base: BaseContext & MediaDeps & { tally: UsageAggregator }, register: Register) {
  const fingerprints = createFingerprintServices(base);
  const addresses = createPlaybackUrls(base);
  const { processing } = register(
    processingPart({ ...base, ...addresses, onPlayable: [recordingReady(base), roomRecordingReady(base)] }),
  );
  const videoPurge = createVideoPurge(base);
  const intake = createVideoIntake({ ...base, processing, trash: videoPurge });
  const { uploads, uploadSessions } = register(uploadsPart({ ...base, intake }));
  const video = register(
    videosPart({
      ...base,
      ...fingerprints,
      ...addresses,
      processing,
      intake,
      uploads,
      uploadSessions,
      videoPurge,
    }),
  );
  const { recordings } = register(recordingsPart({ ...base, intake }));
  const { dvr } = register(dvrPart({ ...base, intake, recordings }));
  const live = register(streamsPart({ ...base, ...addresses, recordings }));
  const { liveChat } = register(chatPart({ ...base, ...fingerprints, ...addresses, ...live }));
  const nodes = register(liveNodesPart(base));
  const playback = register(
    playbackPart({ ...base, ...fingerprints, ...addresses, ...nodes, recordings, liveChat }),
  );
  const restreams = register(restreamsPart(base));
  const whip = register(whipPart({ ...base, ...addresses, ...live }));
  const whep = register(whepPart({ ...base, ...fingerprints, ...addresses, ...playback }));
  return {
    ...addresses,
    ...video,
    ...playback,
    ...nodes,
    ...live,
    ...restreams,
    ...whip,
    ...whep,
    intake,
    uploads,
    recordings,
    dvr,
  };
}

/** Exports of the core that an optional module may use. */
export type Core = ReturnType<typeof buildCore>['core'];

/** A feature that nothing else needs: `optional-modules.ts` lists them. */
export interface OptionalModule extends Declarations {
  build(core: Core): FeatureModule;
}
