/** The folder of `src/` that writes each table. */
export const OWNERS: Readonly<Record<string, string>> = {
  account: 'features/accounts',
  api_key: 'features/api-keys',
  api_key_retired_secret: 'features/api-keys',
  avatar: 'features/accounts',
  bridge: 'features/bridges',
  chat_ban: 'features/chat',
  chat_message: 'features/chat',
  checkout: 'features/checkout',
  connect_account: 'features/payments',
  customer: 'features/payments',
  delivery_job: 'features/webhooks',
  delivery_log: 'features/webhooks',
  discount_code: 'features/discount-codes',
  email_token: 'features/auth',
  event: 'events',
  idempotency_record: 'platform/db',
  import: 'features/imports',
  ingest_session: 'features/streams',
  integration_domain: 'features/domains',
  job_turn: 'jobs',
  ledger_account: 'features/ledger',
  ledger_entry: 'features/ledger',
  ledger_revenue: 'features/ledger',
  ledger_revenue_item: 'features/ledger',
  ledger_transaction: 'features/ledger',
  link_request: 'features/auth',
  mail: 'features/mail',
  member_link: 'features/members',
  member_link_request: 'features/members',
  member_session: 'features/members',
  migration: 'platform/db',
  notification: 'features/notifications',
  notification_preference: 'features/notifications',
  payment: 'features/payments',
  payout: 'features/ledger',
  playlist: 'features/playlists',
  playlist_item: 'features/playlists',
  provider_event: 'features/payments',
  provider_look: 'features/payments',
  purchase: 'features/payments',
  recording: 'features/recordings',
  recording_part: 'features/recordings',
  recovery_code: 'features/auth',
  registration_invite: 'features/auth',
  request_log: 'features/request-log',
  restream: 'features/restreams',
  restream_target: 'features/restreams',
  room: 'features/rooms',
  room_ban: 'features/rooms',
  room_message: 'features/rooms',
  room_node: 'features/rooms',
  room_participant: 'features/rooms',
  room_recording: 'features/rooms',
  sandbox_card: 'features/payments',
  sandbox_payment: 'features/payments',
  sandbox_refund: 'features/payments',
  room_usage: 'features/rooms',
  sign_in_challenge: 'features/auth',
  sign_in_place: 'features/auth',
  signal_simulation: 'features/streams',
  signing_key: 'features/auth',
  stream: 'features/streams',
  stream_health_point: 'features/streams',
  stream_log: 'events',
  stream_log_head: 'events',
  stream_session: 'features/streams',
  stream_viewer: 'features/streams',
  subscription: 'features/subscriptions',
  support_message: 'features/support',
  support_ticket: 'features/support',
  tier: 'features/tiers',
  transcode_node: 'features/videos',
  two_factor: 'features/auth',
  upload: 'features/uploads',
  user_session: 'features/auth',
  user_token: 'features/auth',
  video: 'features/videos',
  video_caption: 'features/videos',
  video_chunk: 'features/videos',
  video_folder: 'features/videos',
  video_processing: 'features/videos',
  video_rendition: 'features/videos',
  video_view: 'features/videos',
  viewer_salt: 'features/streams',
  watched_stream: 'features/streams',
  webhook: 'features/webhooks',
  workspace: 'platform/db',
  availability: 'features/availability',
  booking: 'features/bookings',
  booking_feed: 'features/calendars',
  booking_product: 'features/products',
  calendar_busy: 'features/calendars',
  class_occurrence: 'features/bookings',
  cohort: 'features/cohorts',
  cohort_session: 'features/cohorts',
  cohort_video: 'features/cohorts',
  external_busy: 'features/calendars',
  external_calendar: 'features/calendars',
  waitlist_entry: 'features/waitlist',
};

export interface ForeignRead {
  reader: string;
  tables: readonly string[];
  /** Why it does not go through a function of the owner. */
  reason: string;
}

/** Joins with tables of others: each is one statement whose rows the owner could only give one by one. */
export const FOREIGN_READS: readonly ForeignRead[] = [
  {
    reader: 'features/cohorts',
    tables: ['booking_product', 'video'],
    reason:
      'the last seat is taken in one statement, by the number that its product says; lists leave deleted videos out',
  },
  {
    reader: 'features/waitlist',
    tables: ['account', 'booking', 'workspace'],
    reason: 'who has booked, and whose it is, read in the transaction of the event',
  },
  {
    reader: 'features/booking-pages',
    tables: ['account', 'class_occurrence', 'workspace'],
    reason: 'whose page is at a name, and which classes are full, is one statement for each request',
  },
  {
    reader: 'features/subscriptions',
    tables: ['account', 'customer', 'purchase', 'tier', 'workspace'],
    reason:
      'a list shows the tier and the subscriber of each; what is due, and of whom, is found in one statement',
  },
  {
    reader: 'features/members',
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
    tables: ['bridge'],
    reason: 'each list of rooms says where they are sent, and seats go with their bridges',
  },
  {
    reader: 'platform/db',
    tables: ['account'],
    reason: 'the owner read itself: whose a workspace is, under its lock',
  },
  {
    reader: 'features/auth',
    tables: ['account', 'workspace'],
    reason: 'a session is verified with the standing and workspaces of its account in one statement',
  },
  {
    reader: 'features/api-keys',
    tables: ['user_session'],
    reason: 'a session that was ended makes no key: looked at in the transaction of the key',
  },
  {
    reader: 'features/api-keys',
    tables: ['account', 'workspace'],
    reason: 'a key is verified with its mode, plan and standing in the one statement of every request',
  },
  {
    reader: 'features/checkout',
    tables: ['account', 'workspace'],
    reason: 'whose a checkout is, in the transaction that completes it',
  },
  {
    reader: 'features/tiers',
    tables: ['checkout', 'subscription'],
    reason: 'a tier is removed in the one statement that sees that nobody ever bought it',
  },
  {
    reader: 'features/notifications',
    tables: ['account', 'workspace'],
    reason: 'whom to tell, read in the transaction of the event',
  },
  {
    reader: 'features/streams',
    tables: ['account', 'workspace'],
    reason: 'who may publish or watch: one statement for a connection, and for each look of a viewer',
  },
  {
    reader: 'features/videos',
    tables: ['account', 'workspace'],
    reason:
      'what viewers see of the channel, and the plan by which recordings age: lists over all workspaces',
  },
  {
    reader: 'features/streams',
    tables: ['video'],
    reason: 'a list of sessions shows the recording of each',
  },
  {
    reader: 'features/calendars',
    tables: ['workspace'],
    reason: 'the number of a calendar stands in its workspace: a time is taken in one statement',
  },
  {
    reader: 'features/calendars',
    tables: ['booking', 'booking_product', 'class_occurrence', 'cohort', 'cohort_session'],
    reason:
      'a feed is what the calendar has, joined with what each time is of, for creators in good standing',
  },
  {
    reader: 'features/slots',
    tables: ['class_occurrence'],
    reason: 'the seats that classes have left are read with every list of slots, which writes nothing',
  },
  {
    reader: 'features/chat',
    tables: ['stream', 'workspace'],
    reason:
      'what the stream allows is read under a lock in the transaction of the post; old messages go by it',
  },
  {
    reader: 'features/playlists',
    tables: ['video'],
    reason: 'a list of playlists shows the length and the cover of each, which follow from its videos',
  },
  {
    reader: 'features/recordings',
    tables: ['ingest_session', 'stream', 'stream_session', 'video', 'workspace'],
    reason:
      'what to record, and what became of it, are joins of recordings with the broadcasts of all streams',
  },
  {
    reader: 'features/restreams',
    tables: ['ingest_session', 'stream'],
    reason: 'what is to be sent, and by which node, are joins of restreams with the signals of all streams',
  },
  {
    reader: 'features/bookings',
    tables: ['account', 'booking_product', 'cohort', 'cohort_session', 'purchase', 'workspace'],
    reason:
      'a booking is shown with what was given back, and locked after its cohort; its mails say what it is and whose',
  },
  {
    reader: 'features/payments',
    tables: ['booking', 'checkout', 'class_occurrence', 'cohort', 'discount_code', 'subscription', 'tier'],
    reason:
      'locked before the purchase, in the order that everybody keeps: who hears of its payment changes them',
  },
  {
    reader: 'features/payments',
    tables: ['account', 'workspace'],
    reason:
      'what an account has bought is a join over the creators of all workspaces; whom to tell of a dispute',
  },
  {
    reader: 'features/bridges',
    tables: ['room', 'room_participant', 'stream'],
    reason: 'which bridges are over is a join of all open ones with the streams and rooms that they lead to',
  },
  {
    reader: 'features/ledger',
    tables: ['payment', 'provider_event', 'sandbox_payment', 'workspace'],
    reason:
      'the check compares the books with the payments and with the record of the sandbox, in one look at both',
  },
  {
    reader: 'features/webhooks',
    tables: ['event'],
    reason: 'deliveries are made, sent and recovered by statements that join the queue with what it sends',
  },
];
