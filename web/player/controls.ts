/** Controls, in a separate chunk: a page that waits for a broadcast does not need them yet. */
import 'media-chrome/dist/media-controller.js';
import 'media-chrome/dist/media-control-bar.js';
import 'media-chrome/dist/media-play-button.js';
import 'media-chrome/dist/media-mute-button.js';
import 'media-chrome/dist/media-volume-range.js';
import 'media-chrome/dist/media-live-button.js';
import 'media-chrome/dist/media-loading-indicator.js';
import 'media-chrome/dist/media-captions-button.js';
import 'media-chrome/dist/media-cast-button.js';
import 'media-chrome/dist/media-airplay-button.js';
import 'media-chrome/dist/media-pip-button.js';
import 'media-chrome/dist/media-fullscreen-button.js';
