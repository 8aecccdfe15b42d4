/**
 * Parts of libraries that other parts import but the console never calls, each with its imported
 * exports. The build replaces them: together they would be a tenth of the console.
 */
const UNUSED = {
  // The map has no OpenLayers controls, does not rotate, and has its own keys.
  'ol/control/defaults.js': ['defaults'],
  'ol/interaction/DragRotate.js': ['default'],
  'ol/interaction/KeyboardPan.js': ['default'],
  'ol/interaction/KeyboardZoom.js': ['default'],
  'ol/interaction/PinchRotate.js': ['default'],
  // Styles are functions, not JSON.
  'ol/render/canvas/style.js': ['flatStyleLikeToStyleFunction'],
  // Nothing looks up which part of a tile is below the pointer.
  'ol/render/canvas/hitdetect.js': [
    'HIT_DETECT_RESOLUTION',
    'createHitDetectionImageData',
    'hitDetect',
  ],
  // Tiles are drawn as read: nothing creates modifiable geometries from them.
  'ol/geom/LinearRing.js': ['default'],
  'ol/geom/LineString.js': ['default'],
  'ol/geom/MultiLineString.js': ['default'],
  'ol/geom/MultiPoint.js': ['default'],
  'ol/geom/MultiPolygon.js': ['default'],
  // Lines are drawn without an offset.
  'ol/geom/flat/lineoffset.js': ['offsetLineString', 'removeOffsetCycles'],
  // Polygons are areas of tiles: none has a name, none is searched for its nearest point.
  'ol/geom/flat/center.js': ['linearRingss'],
  'ol/geom/flat/closest.js': ['arrayMaxSquaredDelta', 'assignClosestArrayPoint'],
  'ol/geom/flat/interiorpoint.js': ['getInteriorPointOfArray', 'getInteriorPointsOfMultiArray'],
  // Names along lines are not repeated, and no other text is on a line.
  'ol/geom/flat/interpolate.js': ['interpolatePoint'],
  'ol/geom/flat/linechunk.js': ['lineChunk'],
  // PMTiles have a separate loader.
  'ol/featureloader.js': ['loadFeaturesXhr'],
  'ol/proj/utm.js': ['makeProjection', 'makeTransforms'],
  // All layers have the projection of the view.
  'ol/reproj/DataTile.js': ['default'],
  'ol/reproj/Tile.js': ['default'],
  // Browsers that run the console have their own decompression.
  'fflate/esm/browser.js': ['decompressSync'],
}

/** The build fails when a library no longer has one of the modules, or imports more of it. */
export function withoutUnusedModules() {
  const found = new Set()
  return {
    name: 'without-unused-modules',
    apply: 'build',
    load(id) {
      const name = id.split('/node_modules/').at(-1)
      const exports = UNUSED[name]
      if (exports === undefined) return null
      found.add(name)
      const names = exports.map((each) => `unused as ${each}`).join()
      return `function unused() { throw new Error('not in this build: ${name}') } export { ${names} }`
    },
    buildEnd(error) {
      const gone = Object.keys(UNUSED).filter((name) => !found.has(name))
      if (error === undefined && gone.length > 0) {
        this.error(`unused-modules.mjs: nothing imports ${gone.join(', ')} any more`)
      }
    },
  }
}

/** Texts in the readers' libraries that nobody can see, by file. */
const UNSEEN = {
  // The names of characters.
  '@streamparser/json/dist/mjs/utils/utf-8.js': [/^\(function \(charset\) \{[^]*?^\}\)\(.*$/m, ''],
  // Error messages about options, which are fixed.
  'csv-parse/lib/api/normalize_options.js': [
    /throw new (?:Csv)?Error\([^;]*\);/g,
    'throw new Error();',
  ],
}

/** Omits such texts: they would be a twentieth of the readers. */
export function withoutUnseenTexts() {
  return {
    name: 'without-unseen-texts',
    transform(code, id) {
      const [text, instead] = UNSEEN[id.split('/node_modules/').at(-1)] ?? []
      return text === undefined ? null : code.replace(text, instead)
    },
  }
}
