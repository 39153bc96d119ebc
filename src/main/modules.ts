import { createChannelsModule, displayNameOf, findChannel } from '../features/audience/channels/module.ts';
import {
  createLiveAdmission,
  createPlaybackModule,
  createPlaybackUrls,
  purchasableAt,
  tokenFingerprint,
} from '../features/audience/playback/module.ts';
import { createSubscribersModule } from '../features/audience/subscribers/module.ts';
import { createFingerprintServices } from '../features/audience/viewer-fingerprints/module.ts';
import { createAvailabilityModule, hasWindows } from '../features/booking/availability/module.ts';
import { createBookingPagesModule } from '../features/booking/booking-pages/module.ts';
import {
  BOOKING_EVENTS,
  countBookings,
  createBookingsModule,
  createClassSeats,
  refundableUntil,
} from '../features/booking/bookings/module.ts';
import { calendar, createCalendarsModule } from '../features/booking/calendars/module.ts';
import {
  cohortCanceled,
  cohortCompleted,
  cohortRescheduled,
  createCohortsModule,
  hasCohort,
} from '../features/booking/cohorts/module.ts';
import {
  createProductsModule,
  hasProduct,
  productDeleted,
  productUpdated,
} from '../features/booking/products/module.ts';
import { createSlotsModule } from '../features/booking/slots/module.ts';
import { createWaitlistModule } from '../features/booking/waitlist/module.ts';
import { createCheckoutModule, successUrl } from '../features/commerce/checkout/module.ts';
import { createDiscountCodesModule } from '../features/commerce/discount-codes/module.ts';
import { createLedgerModule, createRevenueModule } from '../features/commerce/ledger/module.ts';
import {
  createMemberCookie,
  createMemberEntitlements,
  createMembersModule,
  createSellers,
  memberPath,
  paidVideos,
} from '../features/commerce/members/module.ts';
import type { CollectedCard } from '../features/commerce/payments/index.ts';
import { createPaymentsModule, STRIPE_PAGES, testCardOf } from '../features/commerce/payments/module.ts';
import type { Subscriptions } from '../features/commerce/subscriptions/index.ts';
import {
  createSubscriptionsModule,
  memberChanges,
  membersAt,
} from '../features/commerce/subscriptions/module.ts';
import { assertOwnTiers, createTiersModule, tierUpdated } from '../features/commerce/tiers/module.ts';
import {
  avatarUrl,
  createAccountsModule,
  createProfilesModule,
  Profile,
  toProfile,
} from '../features/identity/accounts/module.ts';
import { createApiKeysModule } from '../features/identity/api-keys/module.ts';
import { createAuthModule, createSessionsModule, credentialCaps } from '../features/identity/auth/module.ts';
import { createDomainsModule } from '../features/identity/domains/module.ts';
import { createPrivacyModule } from '../features/identity/privacy/module.ts';
import { createTeamModule } from '../features/identity/team/module.ts';
import {
  createFollowerEntitlements,
  createUsersModule,
  followerAdded,
  followerRemoved,
  followers,
} from '../features/identity/users/module.ts';
import { createAnalyticsModule, createRollupsModule } from '../features/insight/analytics/module.ts';
import { createHealthModule } from '../features/insight/health/module.ts';
import { createQuotaModule } from '../features/insight/quota/module.ts';
import { createSummaryModule, videoMs } from '../features/insight/summary/module.ts';
import { createUsageModule } from '../features/insight/usage/module.ts';
import { createChangelogModule } from '../features/integration/changelog/module.ts';
import { createEventLogModule } from '../features/integration/event-log/module.ts';
import { createMailModule } from '../features/integration/mail/module.ts';
import { createNotificationsModule } from '../features/integration/notifications/module.ts';
import { createRequestLogModule } from '../features/integration/request-log/module.ts';
import { createSupportModule } from '../features/integration/support/module.ts';
import {
  attemptsSince,
  createWebhooksModule,
  oldestWaitSec,
} from '../features/integration/webhooks/module.ts';
import { createBridgesModule } from '../features/live/bridges/module.ts';
import { createChatModule } from '../features/live/chat/module.ts';
import { createDvrModule } from '../features/live/dvr/module.ts';
import { createRecordingsModule, onRecordingPlayable } from '../features/live/recordings/module.ts';
import {
  createRestreamsModule,
  restreamSnapshot,
  syncWithStream,
} from '../features/live/restreams/module.ts';
import { createStreamTails } from '../features/live/stream-tails/module.ts';
import {
  attachRestream,
  countEncoders,
  createStreamsModule,
  detachRestream,
  emitRecordingReady,
  findBridgedTitle,
  hasPublicBroadcast,
  listBroadcasts,
  livePlan,
  lockBridgeTarget,
  STREAM_TOPIC,
  stopRecording,
  streamDeleted,
  streamUpdated,
} from '../features/live/streams/module.ts';
import { createWhepModule, trackWhepAvailability } from '../features/live/whep/module.ts';
import {
  createWhipModule,
  endWhipSessionsOf,
  iceLinks,
  trackWhipAvailability,
} from '../features/live/whip/module.ts';
import type { FeatureModule } from '../features/module.ts';
import type { Platform } from '../features/platform.ts';
import {
  createRoomsModule,
  onRoomRecordingPlayable,
  participantJoined,
  roomRecordingReady,
} from '../features/rooms/module.ts';
import { createImportsModule } from '../features/video/imports/module.ts';
import { createPlaylistsModule, listPublicPlaylists } from '../features/video/playlists/module.ts';
import { createUploadsModule, Upload } from '../features/video/uploads/module.ts';
import {
  canBePlayed,
  countLiveSlots,
  countPublicVideos,
  createClipsModule,
  createProcessingModule,
  createVideoSnapshots,
  createVideosModule,
  hasVideo,
  toLinked,
  topHeight,
  videoDeleted,
  videoProcessingCompleted,
  videoProcessingFailed,
  videoReplaced,
  videoReplacementFailed,
} from '../features/video/videos/module.ts';
import { createLiveNodesModule } from './live-nodes.ts';
import { createMaintenanceModule } from './maintenance.ts';
import { createLiveReaders, createMediaServices } from './media-services.ts';
import type { Ports } from './ports.ts';

/**
 * Creates all features in order of dependency. The `…Deps` of a `module.ts` list three kinds of dependencies: services of
 * the platform, services that the modules before it return, and functions and events that another `module.ts` exports,
 * which have no order. A feature reacts to a later one by consuming its events, or by a function that is called later,
 * such as `onCardCollected`.
 */
export function createModules(ports: Ports & Platform) {
  const platform = { ...ports, ...createMediaServices(ports) };
  const { bus, clock, config } = platform;
  const modules: FeatureModule[] = [];
  const add = <T extends FeatureModule>(module: T): T => {
    modules.push(module);
    return module;
  };
  const { tally, usage } = add(createUsageModule(platform));
  const { accounts, profiles } = add(createAccountsModule(platform));
  const { mailbox, mailCaps } = add(createMailModule(platform));
  const { apiKeys } = add(createApiKeysModule({ ...platform, mailbox }));
  const { auth } = add(createAuthModule({ ...platform, accounts, apiKeys, mailCaps, mailbox }));
  const { team } = add(createTeamModule({ ...platform, accounts, apiKeys, auth, mailCaps, mailbox }));
  const { domains } = add(createDomainsModule(platform));
  const { follows, followBox, followStateOf, visitors } = add(
    createUsersModule({
      ...platform,
      accounts,
      apiKeys,
      auth,
      avatarUrl,
      profiles,
      hasPublicBroadcast,
      countPublicVideos,
    }),
  );
  const { webhooks, failureMonitor } = add(createWebhooksModule(platform));
  const { salts, arrivals } = createFingerprintServices({ ...platform, visitors });
  const hasWhep = trackWhepAvailability(bus);
  const takesWhip = trackWhipAvailability(bus);
  const memberCookie = createMemberCookie(config.PUBLIC_URL);
  const memberEntitlements = createMemberEntitlements({ ...platform, cookie: memberCookie });
  const followerEntitlements = createFollowerEntitlements({ follows, visitors });
  const { playbackTokens, access, entitlements, streamLinks, videoLinks, bareVideoLinks } =
    createPlaybackUrls({ ...platform, followerEntitlements, memberEntitlements, takesWhip, hasWhep });
  const onPlayable = [onRecordingPlayable({ clock, emitRecordingReady }), onRoomRecordingPlayable({ clock })];
  const { processing, videoPurge, intake } = add(
    createProcessingModule({ ...platform, bareVideoLinks, onPlayable }),
  );
  const { uploads, uploadSessions } = add(createUploadsModule({ ...platform, intake }));
  const { imports } = add(
    createImportsModule({
      ...platform,
      intake,
      videoDeleted,
      videoProcessingCompleted,
      videoProcessingFailed,
      videoReplaced,
      videoReplacementFailed,
    }),
  );
  const { videos, audience, videoTakedowns } = add(
    createVideosModule({
      ...platform,
      access,
      arrivals,
      processing,
      uploadSessions,
      uploads,
      videoLinks,
      videoPurge,
      intake,
      paidVideos,
      assertOwnTiers,
      imports,
      Upload,
    }),
  );
  const { recordings } = add(
    createRecordingsModule({ ...platform, intake, emitRecordingReady, stopRecording }),
  );
  const { dvr, liveHistory } = add(createDvrModule({ ...platform, recordings, intake }));
  const {
    signals,
    simulations,
    healthSeries,
    streams,
    streamSnapshots,
    streamTails,
    streamTakedowns,
    viewers,
  } = add(
    createStreamsModule({
      ...platform,
      recordings,
      arrivals,
      salts,
      streamLinks,
      assertOwnTiers,
      restreamSnapshot,
      syncWithStream,
      createStreamTails,
      endWhipSessionsOf,
    }),
  );
  const { liveChat } = add(
    createChatModule({
      ...platform,
      access,
      arrivals,
      entitlements,
      streamTails,
      streams,
      displayNameOf,
      findChannel,
      avatarUrl,
      profiles,
      streamSnapshots,
      streamTopic: STREAM_TOPIC,
      streamUpdated,
    }),
  );
  const { isLiveOnNode, liveSource, liveSourceOf, mediaNodes } = add(createLiveNodesModule(platform));
  const { broadcastSegments, liveFiles } = createLiveReaders(platform, {
    source: liveSource,
    history: liveHistory,
  });
  const videoSnapshots = createVideoSnapshots(platform);
  const sellers = createSellers(platform);
  const { snapshots } = add(
    createPlaybackModule({
      ...platform,
      access,
      arrivals,
      followBox,
      hasWhep,
      isLiveOnNode,
      liveChat,
      playbackTokens,
      recordings,
      salts,
      sellers,
      tally,
      liveFiles,
      streamSnapshots,
      videoSnapshots,
      viewers,
    }),
  );
  const { restreams, restreamRuns } = add(
    createRestreamsModule({ ...platform, attachRestream, detachRestream, streamDeleted }),
  );
  const { whip } = add(createWhipModule({ ...platform, signals, takesWhip }));
  const { whep } = add(
    createWhepModule({
      ...platform,
      access,
      arrivals,
      hasWhep,
      snapshots,
      tally,
      viewers,
      createLiveAdmission,
      tokenFingerprint,
      streamTopic: STREAM_TOPIC,
      iceLinks,
    }),
  );
  const { rooms, roomEngine, roomRecordings, bridgeParticipants } = add(
    createRoomsModule({ ...platform, intake }),
  );
  const { ledger } = add(createLedgerModule(platform));
  const { tiers, tierCapacity } = add(createTiersModule({ ...platform, accounts }));
  const { discountCodes } = add(createDiscountCodesModule({ ...platform, hasProduct }));
  const onCardCollected = (card: CollectedCard): Promise<void> => subscriptions.giveCard(card);
  const { payments, cards, customerDeletion, payment, sandbox, pingProviders } = add(
    createPaymentsModule({ ...platform, accounts, ledger, mailCaps, mailbox, videos, onCardCollected }),
  );
  const { subscriptions }: { subscriptions: Subscriptions } = add(
    createSubscriptionsModule({
      ...platform,
      cards,
      mailCaps,
      mailbox,
      payment,
      payments,
      tierCapacity,
      memberPath,
      tierUpdated,
    }),
  );
  const { availability } = add(createAvailabilityModule(platform));
  const { products } = add(
    createProductsModule({ ...platform, accounts, hasWindows, countBookings, hasCohort }),
  );
  const { slots } = add(createSlotsModule({ ...platform, availability, products, calendar }));
  const { cohorts } = add(
    createCohortsModule({
      ...platform,
      availability,
      products,
      calendar,
      productDeleted,
      productUpdated,
      hasVideo,
    }),
  );
  const classSeats = createClassSeats({ calendar, clock });
  const { waitlist } = add(
    createWaitlistModule({
      ...platform,
      availability,
      cohorts,
      mailCaps,
      mailbox,
      products,
      slots,
      booking: BOOKING_EVENTS,
      calendar,
      classSeats,
    }),
  );
  const { bookings, bookingSales, bookingLinks, bookingCalendar } = add(
    createBookingsModule({
      ...platform,
      availability,
      cohorts,
      mailCaps,
      mailbox,
      payments,
      products,
      rooms,
      slots,
      waitlist,
      classSeats,
      calendar,
      cohortCanceled,
      cohortCompleted,
      cohortRescheduled,
      participantJoined,
      roomRecordingReady,
    }),
  );
  const { bridgeRuns } = add(
    createBridgesModule({
      ...platform,
      roomEngine,
      bridgeParticipants,
      signals,
      countEncoders,
      findBridgedTitle,
      lockBridgeTarget,
    }),
  );
  add(
    createMembersModule({
      ...platform,
      cards,
      mailCaps,
      mailbox,
      memberCookie,
      payments,
      subscriptions,
      providerPages: STRIPE_PAGES,
    }),
  );
  const { checkouts } = add(
    createCheckoutModule({
      ...platform,
      bookingSales,
      cards,
      discountCodes,
      domains,
      mailCaps,
      mailbox,
      payment,
      payments,
      snapshots,
      subscriptions,
      tierCapacity,
      tiers,
      videos,
      purchasableAt,
      memberPath,
      providerPages: STRIPE_PAGES,
      testCardOf,
    }),
  );
  add(
    createBookingPagesModule({
      ...platform,
      availability,
      bookingCalendar,
      bookingLinks,
      bookings,
      checkouts,
      cohorts,
      mailCaps,
      products,
      slots,
      waitlist,
      refundableUntil,
      successUrl,
    }),
  );
  const { requestLog } = add(createRequestLogModule({ ...platform, tally }));
  const { changelog } = add(createChangelogModule({ ...platform, accounts }));
  add(createProfilesModule({ ...platform, apiKeys, auth, profiles }));
  add(createEventLogModule(platform));
  add(
    createHealthModule({
      ...platform,
      pingProviders,
      roomEngine,
      attemptsSince,
      oldestWaitSec,
      countLiveSlots,
    }),
  );
  add(createSessionsModule({ ...platform, auth, profiles, Profile, toProfile }));
  const { revenue } = add(createRevenueModule({ ...platform, accounts, ledger, payments, tiers, videos }));
  add(
    createAnalyticsModule({
      ...platform,
      revenue,
      followerAdded,
      followerRemoved,
      followers,
      listBroadcasts,
      memberChanges,
      membersAt,
    }),
  );
  add(createRollupsModule(platform));
  add(createCalendarsModule({ ...platform, availability }));
  const { playlistVideos } = add(
    createPlaylistsModule({
      ...platform,
      bareVideoLinks,
      videoLinks,
      videos,
      canBePlayed,
      hasVideo,
      toLinked,
    }),
  );
  add(
    createChannelsModule({
      ...platform,
      bareVideoLinks,
      checkouts,
      followBox,
      followStateOf,
      streamLinks,
      streams,
      tiers,
      videos,
      memberPath,
      avatarUrl,
      profiles,
      listPublicPlaylists,
      playlistVideos,
      toLinked,
    }),
  );
  add(
    createClipsModule({
      ...platform,
      recordings,
      streams,
      videoLinks,
      videos,
      intake,
      streamSnapshots,
      broadcastSegments,
    }),
  );
  add(createNotificationsModule({ ...platform, mailbox }));
  const { subscribers } = add(createSubscribersModule({ ...platform, mailCaps, mailbox }));
  add(
    createPrivacyModule({
      ...platform,
      accounts,
      apiKeys,
      auth,
      customerDeletion,
      follows,
      mailbox,
      team,
      subscribers,
      credentialCaps,
    }),
  );
  add(
    createQuotaModule({
      ...platform,
      apiKeys,
      domains,
      restreams,
      rooms,
      streams,
      team,
      uploads,
      usage,
      webhooks,
      videoMs,
      livePlan,
      topHeight,
    }),
  );
  add(createSummaryModule(platform));
  add(createSupportModule({ ...platform, accounts, mailbox, snapshots }));
  add(createMaintenanceModule(platform));
  return {
    modules,
    services: {
      accounts,
      apiKeys,
      audience,
      auth,
      bookingSales,
      bridgeRuns,
      cards,
      changelog,
      checkouts,
      cohorts,
      domains,
      dvr,
      failureMonitor,
      healthSeries,
      intake,
      ledger,
      liveSourceOf,
      mailCaps,
      mailbox,
      mediaNodes,
      payments,
      playbackTokens,
      products,
      recordings,
      requestLog,
      restreamRuns,
      roomEngine,
      roomRecordings,
      rooms,
      sandbox,
      signals,
      simulations,
      slots,
      snapshots,
      streamTails,
      streamTakedowns,
      subscriptions,
      tierCapacity,
      uploads,
      videoPurge,
      videoTakedowns,
      videos,
      viewers,
      whep,
      whip,
    },
  };
}
