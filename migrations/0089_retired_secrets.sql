-- Who made the secret that a rotation has replaced, as `api_key.made_by` says it of the present one: while both are good,
-- each is worth what its own maker may do, and ends with them.
alter table api_key_retired_secret add column made_by text;
update api_key_retired_secret retired set made_by = api_key.made_by
from api_key where api_key.id = retired.key_id;
