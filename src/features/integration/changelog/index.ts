/** API releases: their changes, the notifications about them, and the deprecation of endpoints. */
