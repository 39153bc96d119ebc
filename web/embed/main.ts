import '../player/element.ts';
