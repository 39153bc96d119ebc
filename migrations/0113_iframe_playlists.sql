-- Renditions of pictures with a playlist of their keyframes (`iframes.m3u8`): its peak rate in bits per second. Null of
-- sound, and of what was made before.
alter table video_rendition add column iframe_bitrate integer;
