-- Every list reads few rows that it does not show, whatever it is filtered by (docs/decisions/lists-and-ids.md#filters):
-- an index has the columns of each filter, and then the id in an order of its own name, for which the primary key
-- cannot stand in.

create index concurrently purchase_state on purchase (workspace_id, kind, status, id collate "C" desc);
create index concurrently purchase_video_state on purchase (workspace_id, video_id, kind, status, id collate "C" desc)
  where video_id is not null;
drop index concurrently purchase_video;
alter index purchase_video_state rename to purchase_video;
create index concurrently payment_state on payment (workspace_id, type, status, id collate "C" desc);
create index concurrently payout_state on payout (workspace_id, status, id collate "C" desc);
create index concurrently subscription_state on subscription (workspace_id, status, id collate "C" desc);
create index concurrently subscription_tier_state on subscription (tier_id, status, id collate "C" desc);

create index concurrently subscriber_state on subscriber (workspace_id, status, id collate "C" desc);
drop index concurrently subscriber_status;
alter index subscriber_state rename to subscriber_status;
create index concurrently subscriber_text on subscriber using gin (email gin_trgm_ops, name gin_trgm_ops);

create index concurrently booking_state on booking (workspace_id, status, id collate "C" desc);
create index concurrently booking_product_state on booking (product_id, status, id collate "C" desc);
create index concurrently booking_cohort_state on booking (cohort_id, status, id collate "C" desc) where cohort_id is not null;
drop index concurrently booking_cohort;
alter index booking_cohort_state rename to booking_cohort;
create index concurrently booking_email_ids on booking (workspace_id, customer_email, id desc);
drop index concurrently booking_email;
alter index booking_email_ids rename to booking_email;
create index concurrently booking_starts on booking (workspace_id, starts_at);
create index concurrently booking_product_list on booking_product (workspace_id, type, status, id collate "C" desc);
create index concurrently waitlist_entry_state on waitlist_entry (workspace_id, status, id collate "C" desc);
create index concurrently waitlist_entry_product on waitlist_entry (product_id, status, id collate "C" desc);
create index concurrently waitlist_entry_cohort on waitlist_entry
  (coalesce(offered_cohort_id, cohort_id), status, id collate "C" desc);

create index concurrently upload_state on upload (workspace_id, status, id collate "C" desc);
create index concurrently import_state on import (workspace_id, provider, status, id collate "C" desc);
create index concurrently playlist_state on playlist (workspace_id, visibility, id collate "C" desc);
create index concurrently bridge_state on bridge (workspace_id, type, status, id collate "C" desc);
create index concurrently bridge_target on bridge (target_id, type, status, id collate "C" desc);
create index concurrently room_state on room (workspace_id, status, id collate "C" desc);
create index concurrently room_participant_state on room_participant (room_id, state, id collate "C" desc);
create index concurrently room_participant_identity on room_participant (room_id, identity, id desc);

create index concurrently notification_type on notification (account_id, type, id collate "C" desc);
create index concurrently notification_unread_ids on notification (account_id, id collate "C" desc) where read_at is null;
drop index concurrently notification_unread;
alter index notification_unread_ids rename to notification_unread;
create index concurrently notification_read on notification (account_id, id collate "C" desc) where read_at is not null;
create index concurrently support_ticket_state on support_ticket (account_id, category, status, id collate "C" desc);
create index concurrently support_ticket_all on support_ticket (category, status, id collate "C" desc);
create index concurrently api_key_workspace_ids on api_key (workspace_id, id collate "C" desc);
drop index concurrently api_key_workspace;
alter index api_key_workspace_ids rename to api_key_workspace;
create index concurrently api_key_usable on api_key (workspace_id, id collate "C" desc) where revoked_at is null;
create index concurrently api_key_ended on api_key (workspace_id, id collate "C" desc)
  where revoked_at is not null or expires_at is not null;
