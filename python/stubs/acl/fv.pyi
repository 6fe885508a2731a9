# Feature vector search, which is not part of this.
