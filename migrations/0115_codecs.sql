-- Renditions in other codecs than H.264, which are made once the video is READY.

-- Of pictures; null of sound.
alter table video_rendition add column codec text check (codec in ('H264', 'HEVC', 'AV1'));
-- RFC 8216bis: what the brightness means. PQ and HLG are HDR.
alter table video_rendition add column video_range text not null default 'SDR'
  check (video_range in ('SDR', 'PQ', 'HLG'));
update video_rendition set codec = 'H264' where kind = 'VIDEO';

-- What was planned before has rungs in H.264 alone.
update video_processing set
  ladder = (jsonb_set(ladder::jsonb, '{rungs}', (
    select coalesce(jsonb_agg(rung || '{"codec": "H264"}' order by at), '[]')
    from jsonb_array_elements(ladder::jsonb -> 'rungs') with ordinality as rungs (rung, at)
  )) || '{"further": []}')::text,
  source = jsonb_set(source::jsonb, '{video,range}',
    case when (source::jsonb #>> '{video,isHdr}')::boolean then '"PQ"' else '"SDR"' end::jsonb)::text;
