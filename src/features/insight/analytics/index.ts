/** Content analytics (docs/concepts/analytics.md). */
