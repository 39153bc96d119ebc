-- A new address is confirmed by a link to it, and taken back by a link to the one before.

alter table email_token drop constraint email_token_purpose_check;
alter table email_token add constraint email_token_purpose_check
  check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD', 'CHANGE_EMAIL', 'KEEP_EMAIL'));
-- While an address can be taken back, nobody else registers it.
create index email_token_kept on email_token (email) where purpose = 'KEEP_EMAIL' and used_at is null;

-- The terms that the person saw when they registered in the dashboard, and when.
alter table account add column terms_url text;
alter table account add column terms_accepted_at timestamptz;
alter table account add constraint account_terms_check check ((terms_url is null) = (terms_accepted_at is null));
