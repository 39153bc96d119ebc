/** The folder of `src/` that writes each table. */
export const OWNERS: Readonly<Record<string, string>> = {
  account: 'features/identity/accounts',
  account_erasure: 'features/identity/privacy',
  account_export: 'features/identity/privacy',
  analytics_retention: 'features/insight/analytics',
  analytics_unique_viewer: 'features/insight/analytics',
  analytics_breakdown: 'features/insight/analytics',
  analytics_total: 'features/insight/analytics',
  api_key: 'features/identity/api-keys',
  api_key_retired_secret: 'features/identity/api-keys',
  availability: 'features/booking/availability',
  avatar: 'features/identity/accounts',
  booking: 'features/booking/bookings',
  booking_feed: 'features/booking/calendars',
  booking_product: 'features/booking/products',
  bridge: 'features/live/bridges',
  calendar_busy: 'features/booking/calendars',
  banner: 'features/audience/channels',
  channel: 'features/audience/channels',
  chat_ban: 'features/live/chat',
  chat_message: 'features/live/chat',
  checkout: 'features/commerce/checkout',
  class_occurrence: 'features/booking/bookings',
  cohort: 'features/booking/cohorts',
  cohort_session: 'features/booking/cohorts',
  cohort_session_tombstone: 'features/booking/cohorts',
  cohort_video: 'features/booking/cohorts',
  connect_account: 'features/commerce/payments',
  counter_window: 'platform/db',
  customer: 'features/commerce/payments',
  delivery_job: 'features/integration/webhooks',
  delivery_log: 'features/integration/webhooks',
  deprecated_endpoint_usage: 'features/integration/changelog',
  discount_code: 'features/commerce/discount-codes',
  dvr_segment: 'features/live/dvr',
  email_token: 'features/identity/auth',
  event: 'events',
  external_busy: 'features/booking/calendars',
  external_calendar: 'features/booking/calendars',
  usage_event: 'features/insight/usage-events',
  rollup_state: 'features/insight/analytics',
  follow: 'features/identity/users',
  follower_count: 'features/identity/users',
  idempotency_record: 'platform/db',
  import: 'features/video/imports',
  ingest_session: 'features/live/streams',
  integration_domain: 'features/identity/domains',
  job: 'jobs',
  job_turn: 'jobs',
  counter_delta: 'features/insight/summary',
  ledger_account: 'features/commerce/ledger',
  ledger_entry: 'features/commerce/ledger',
  ledger_revenue: 'features/commerce/ledger',
  ledger_revenue_item: 'features/commerce/ledger',
  ledger_transaction: 'features/commerce/ledger',
  email_link_request: 'features/identity/auth',
  mail: 'features/integration/mail',
  media_node: 'features/live/streams',
  member_link: 'features/commerce/members',
  member_link_request: 'features/commerce/members',
  member_session: 'features/commerce/members',
  migration: 'platform/db',
  notification: 'features/integration/notifications',
  notification_preference: 'features/integration/notifications',
  notification_read: 'features/integration/notifications',
  payment: 'features/commerce/payments',
  payout: 'features/commerce/ledger',
  playlist: 'features/video/playlists',
  playlist_item: 'features/video/playlists',
  provider_event: 'features/commerce/payments',
  provider_poll_state: 'features/commerce/payments',
  purchase: 'features/commerce/payments',
  quota_notification: 'features/insight/quota',
  recording: 'features/live/recordings',
  recording_part: 'features/live/recordings',
  recovery_code: 'features/identity/auth',
  registration_invite: 'features/identity/auth',
  release_notice: 'features/integration/changelog',
  request_log: 'features/integration/request-log',
  restream: 'features/live/restreams',
  restream_target: 'features/live/restreams',
  room: 'features/rooms',
  room_ban: 'features/rooms',
  room_message: 'features/rooms',
  room_node: 'features/rooms',
  room_participant: 'features/rooms',
  room_recording: 'features/rooms',
  sandbox_card: 'features/commerce/payments',
  sandbox_payment: 'features/commerce/payments',
  sandbox_refund: 'features/commerce/payments',
  sign_in_challenge: 'features/identity/auth',
  sign_in_location: 'features/identity/auth',
  signal_simulation: 'features/live/streams',
  signing_key: 'features/identity/auth',
  stream: 'features/live/streams',
  stream_health_point: 'features/live/streams',
  stream_log: 'events',
  stream_log_head: 'events',
  stream_session: 'features/live/streams',
  stream_viewer: 'features/live/streams',
  subscriber: 'features/audience/subscribers',
  subscriber_address: 'features/audience/subscribers',
  subscription: 'features/commerce/subscriptions',
  support_message: 'features/integration/support',
  support_ticket: 'features/integration/support',
  team_activity: 'features/identity/auth',
  team_invitation: 'features/identity/team',
  team_member: 'features/identity/team',
  tier: 'features/commerce/tiers',
  transcode_node: 'features/video/videos',
  two_factor: 'features/identity/auth',
  upload: 'features/video/uploads',
  usage_request: 'features/insight/analytics',
  usage_total: 'features/insight/analytics',
  user_session: 'features/identity/auth',
  user_token: 'features/identity/auth',
  video: 'features/video/videos',
  video_caption: 'features/video/videos',
  video_chunk: 'features/video/videos',
  video_folder: 'features/video/videos',
  video_processing: 'features/video/videos',
  video_rendition: 'features/video/videos',
  video_tag: 'features/video/videos',
  video_replacement: 'features/video/videos',
  video_transcription: 'features/video/videos',
  video_view: 'features/video/videos',
  viewer_salt: 'features/audience/viewer-fingerprints',
  waitlist_entry: 'features/booking/waitlist',
  watched_stream: 'features/live/streams',
  webhook: 'features/integration/webhooks',
  whep_session: 'features/live/whep',
  whip_session: 'features/live/whip',
  workspace: 'platform/db',
};

export interface CrossFeatureRead {
  reader: string;
  tables: readonly string[];
  /** Reason why it does not use a function of the owner. */
  reason: string;
}

/**
 * Joins with tables of other features: each is one statement whose rows the owner could only return one by
 * one.
 */
export const CROSS_FEATURE_READS: readonly CrossFeatureRead[] = [
  {
    reader: 'features/insight/summary',
    tables: [
      ...['booking', 'cohort', 'follower_count', 'notification', 'notification_read', 'playlist'],
      ...['restream', 'room', 'stream', 'subscriber', 'support_ticket', 'video', 'workspace'],
    ],
    reason: 'numbers of everything at one moment, and the count of all of it again, each in one statement',
  },
  {
    reader: 'features/identity/privacy',
    tables: [
      ...[
        'account',
        'avatar',
        'banner',
        'booking',
        'checkout',
        'customer',
        'recording',
        'room',
        'room_recording',
        'stream',
      ],
      ...['subscription', 'team_member', 'video', 'video_replacement', 'workspace'],
    ],
    reason: 'erasure reads everything that must end before it in one query',
  },
  {
    reader: 'features/insight/usage',
    tables: ['usage_request', 'usage_total'],
    reason: 'one task computes content and usage rollups; only this feature reports usage',
  },
  {
    reader: 'features/insight/quota',
    tables: ['usage_total'],
    reason: 'recent use is one index lookup',
  },
  {
    reader: 'features/insight/analytics',
    tables: ['stream', 'video'],
    reason: 'titles of what was counted, and its order by publication, of a page of thousands of sums',
  },
  {
    reader: 'events',
    tables: ['rollup_state'],
    reason: 'a partition of facts is dropped in the statement that sees that all of it is counted',
  },
  {
    reader: 'features/insight/analytics',
    tables: ['usage_event'],
    reason: 'facts are added up where they lie, in one statement with the sums',
  },
  {
    reader: 'features/booking/cohorts',
    tables: ['booking_product', 'video'],
    reason:
      'the last seat is taken in one statement, by the number that its product says; lists leave deleted videos out',
  },
  {
    reader: 'features/audience/channels',
    tables: ['account', 'workspace'],
    reason: 'a banner is served unless its account is suspended: one statement for each picture',
  },
  {
    reader: 'features/audience/subscribers',
    tables: ['account', 'channel', 'workspace'],
    reason: 'a mail says whose list it is: one statement in its transaction',
  },
  {
    reader: 'features/booking/waitlist',
    tables: ['account', 'booking', 'workspace'],
    reason: 'who has booked, and whose it is, read in the transaction of the event',
  },
  {
    reader: 'features/booking/booking-pages',
    tables: ['account', 'class_occurrence', 'workspace'],
    reason: 'whose page is at a name, and which classes are full, is one statement for each request',
  },
  {
    reader: 'features/commerce/subscriptions',
    tables: ['account', 'customer', 'purchase', 'tier', 'workspace'],
    reason:
      'a list shows the tier and the subscriber of each; what is due, and of whom, is found in one statement',
  },
  {
    reader: 'features/commerce/members',
    tables: [
      ...['account', 'booking', 'cohort_video', 'customer', 'purchase', 'stream', 'subscription', 'tier'],
      ...['video', 'workspace'],
    ],
    reason:
      'whether a member may watch is one statement for each playlist and segment; so is each part of the page',
  },
  {
    reader: 'features/rooms',
    tables: ['account', 'workspace'],
    reason: 'each second the rooms that the plan or a suspension ends are found in one statement',
  },
  {
    reader: 'features/rooms',
    tables: ['booking', 'bridge'],
    reason:
      'each list of rooms says what they are for and where they are sent, and seats go with their bridges',
  },
  {
    reader: 'platform/db',
    tables: ['account'],
    reason: 'the owner read itself: whose a workspace is, under its lock',
  },
  {
    reader: 'features/identity/auth',
    tables: ['account', 'team_member', 'workspace'],
    reason: 'a session is verified with the standing and workspaces of its accounts, in a statement each',
  },
  {
    reader: 'features/identity/api-keys',
    tables: ['user_session'],
    reason: 'a session that was ended makes no key: looked at in the transaction of the key',
  },
  {
    reader: 'features/identity/api-keys',
    tables: ['account', 'team_member', 'workspace'],
    reason: 'a key is verified with its mode, plan, maker and standing in the one statement of every request',
  },
  {
    reader: 'features/commerce/checkout',
    tables: ['account', 'booking_product', 'tier', 'video', 'workspace'],
    reason:
      'whose a checkout is, and whether what it is for is still sold, in the transaction that completes it',
  },
  {
    reader: 'features/commerce/tiers',
    tables: ['checkout', 'subscription'],
    reason: 'a tier is removed in the one statement that sees that nobody ever bought it',
  },
  {
    reader: 'features/identity/team',
    tables: ['account', 'team_activity'],
    reason: 'the team is shown with the names and addresses of its people, and when each was last there',
  },
  {
    reader: 'features/integration/notifications',
    tables: ['account', 'workspace'],
    reason: 'whom to tell, read in the transaction of the event',
  },
  {
    reader: 'features/live/streams',
    tables: ['account', 'channel', 'workspace'],
    reason: 'who may publish or watch: one statement for a connection, and for each look of a viewer',
  },
  {
    reader: 'features/video/videos',
    tables: ['account', 'channel', 'workspace'],
    reason:
      'what viewers see of the channel, and the plan by which recordings age: lists over all workspaces',
  },
  {
    reader: 'features/live/streams',
    tables: ['bridge', 'whip_session'],
    reason:
      'encoders, bridges and what is about to be one take the same places of a plan: a statement counts each',
  },
  {
    reader: 'features/live/streams',
    tables: ['video'],
    reason: 'a list of sessions shows the recording of each',
  },
  {
    reader: 'features/video/uploads',
    tables: ['api_key', 'team_member', 'workspace'],
    reason: 'whether who opened an upload may still write is asked in the statement that takes its bytes',
  },
  {
    reader: 'features/booking/calendars',
    tables: ['workspace'],
    reason: 'the number of a calendar stands in its workspace: a time is taken in one statement',
  },
  {
    reader: 'features/booking/calendars',
    tables: ['booking', 'booking_product', 'class_occurrence', 'cohort', 'cohort_session'],
    reason:
      'a feed is what the calendar has, joined with what each time is of, for creators in good standing',
  },
  {
    reader: 'features/booking/slots',
    tables: ['class_occurrence'],
    reason: 'the seats that classes have left are read with every list of slots, which writes nothing',
  },
  {
    reader: 'features/live/chat',
    tables: ['stream', 'workspace'],
    reason:
      'what the stream allows is read under a lock in the transaction of the post; old messages go by it',
  },
  {
    reader: 'features/video/playlists',
    tables: ['video'],
    reason: 'a list of playlists shows the length and the cover of each, which follow from its videos',
  },
  {
    reader: 'platform/db',
    tables: ['media_node'],
    reason:
      'the condition for rows of a media node without a heartbeat, shared by the tables of three features',
  },
  {
    reader: 'features/live/recordings',
    tables: ['ingest_session', 'stream', 'stream_session', 'video', 'workspace'],
    reason:
      'what to record, and what became of it, are joins of recordings with the broadcasts of all streams',
  },
  {
    reader: 'features/live/dvr',
    tables: ['ingest_session', 'stream'],
    reason:
      'what is kept and what has become too old are joins of segments with the broadcasts of all streams',
  },
  {
    reader: 'features/live/restreams',
    tables: ['ingest_session', 'stream'],
    reason: 'what is to be sent, and by which node, are joins of restreams with the signals of all streams',
  },
  {
    reader: 'features/booking/bookings',
    tables: ['account', 'booking_product', 'cohort', 'cohort_session', 'purchase', 'workspace'],
    reason:
      'a booking is shown with what was given back, and locked after its cohort; its mails say what it is and whose',
  },
  {
    reader: 'features/commerce/payments',
    tables: ['booking', 'checkout', 'class_occurrence', 'cohort', 'discount_code', 'subscription', 'tier'],
    reason:
      'locked before the purchase, in the order that everybody keeps: who hears of its payment changes them',
  },
  {
    reader: 'features/commerce/payments',
    tables: ['account', 'workspace'],
    reason:
      'what an account has bought is a join over the creators of all workspaces; whom to tell of a dispute',
  },
  {
    reader: 'features/live/bridges',
    tables: ['ingest_session', 'room', 'room_participant', 'stream'],
    reason:
      'the bridges that have ended, and those of streams that a node receives, are joins of all open ones with their ends',
  },
  {
    reader: 'features/commerce/ledger',
    tables: ['payment', 'provider_event', 'sandbox_payment', 'workspace'],
    reason:
      'the check compares the books with the payments and with the record of the sandbox, in one look at both',
  },
  {
    reader: 'features/integration/webhooks',
    tables: ['event'],
    reason: 'deliveries are made, sent and recovered by statements that join the queue with what it sends',
  },
];
