-- The network of a sign-in (IPv4 /24, IPv6 /48) as a keyed hash: failures from elsewhere do not slow sign-ins from there.
-- Null until the next sign-in from that place.
alter table sign_in_place add column network bytea;
