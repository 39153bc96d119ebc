/** Watching by WebRTC (WHEP, draft-ietf-wish-whep). */
