/** Controls loaded after `controls.ts`, in a chunk of their own: the seek bar and the settings menu. */
import 'media-chrome/dist/media-time-range.js';
import 'media-chrome/dist/media-time-display.js';
import 'media-chrome/dist/menu/media-settings-menu.js';
import 'media-chrome/dist/menu/media-settings-menu-item.js';
import 'media-chrome/dist/menu/media-settings-menu-button.js';
import 'media-chrome/dist/menu/media-playback-rate-menu.js';
import 'media-chrome/dist/menu/media-rendition-menu.js';
import { MediaAudioTrackMenu } from 'media-chrome/dist/menu/media-audio-track-menu.js';
import 'media-chrome/dist/menu/media-captions-menu.js';
import { readLabel } from './audio-tracks.ts';

MediaAudioTrackMenu.formatMenuItemText = readLabel;
