import type {
  AccountTable,
  ApiKeyTable,
  AvatarTable,
  RetiredSecretTable,
  WorkspaceTable,
} from './tables/accounts.ts';
import type {
  EmailTokenTable,
  LinkRequestTable,
  MailTable,
  RecoveryCodeTable,
  SignInChallengeTable,
  SigningKeyTable,
  TwoFactorTable,
} from './tables/auth.ts';
import type { IntegrationDomainTable } from './tables/domains.ts';
import type { DeliveryJobTable, DeliveryLogTable, EventTable, WebhookTable } from './tables/events.ts';
import type { ImportTable } from './tables/imports.ts';
import type { NotificationPreferenceTable, NotificationTable } from './tables/notifications.ts';
import type { PlaylistItemTable, PlaylistTable } from './tables/playlists.ts';
import type {
  TranscodeNodeTable,
  VideoChunkTable,
  VideoFolderTable,
  VideoProcessingTable,
} from './tables/processing.ts';
import type { RecordingPartTable, RecordingTable } from './tables/recordings.ts';
import type {
  IngestSessionTable,
  StreamSessionTable,
  StreamTable,
  ViewerCountTable,
} from './tables/streams.ts';
import type {
  UploadTable,
  VideoCaptionTable,
  VideoRenditionTable,
  VideoTable,
  VideoViewTable,
} from './tables/videos.ts';

/** Every table, as Kysely sees it; the SQL itself is in `migrations/`. */
export interface Database {
  account: AccountTable;
  workspace: WorkspaceTable;
  api_key: ApiKeyTable;
  api_key_retired_secret: RetiredSecretTable;
  avatar: AvatarTable;
  integration_domain: IntegrationDomainTable;
  signing_key: SigningKeyTable;
  two_factor: TwoFactorTable;
  recovery_code: RecoveryCodeTable;
  sign_in_challenge: SignInChallengeTable;
  email_token: EmailTokenTable;
  link_request: LinkRequestTable;
  mail: MailTable;
  notification: NotificationTable;
  notification_preference: NotificationPreferenceTable;
  event: EventTable;
  webhook: WebhookTable;
  delivery_job: DeliveryJobTable;
  delivery_log: DeliveryLogTable;
  stream: StreamTable;
  stream_session: StreamSessionTable;
  ingest_session: IngestSessionTable;
  viewer_count: ViewerCountTable;
  video: VideoTable;
  video_rendition: VideoRenditionTable;
  video_caption: VideoCaptionTable;
  video_view: VideoViewTable;
  video_processing: VideoProcessingTable;
  video_chunk: VideoChunkTable;
  video_folder: VideoFolderTable;
  transcode_node: TranscodeNodeTable;
  upload: UploadTable;
  import: ImportTable;
  playlist: PlaylistTable;
  playlist_item: PlaylistItemTable;
  recording: RecordingTable;
  recording_part: RecordingPartTable;
}
