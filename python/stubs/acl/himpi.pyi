# Media functions, which are not part of this.
