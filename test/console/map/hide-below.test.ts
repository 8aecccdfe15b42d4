import { describe, expect, test } from '@jest/globals'
import BaseObject from 'ol/Object.js'
import type OlMap from 'ol/Map.js'
import Tile from 'ol/Tile.js'
import TileState from 'ol/TileState.js'
import View from 'ol/View.js'
import { getCenter } from 'ol/extent.js'
import VectorTileLayer from 'ol/layer/VectorTile.js'
import VectorTileSource from 'ol/source/VectorTile.js'
import { TileSourceEvent } from 'ol/source/Tile.js'
import { createXYZ } from 'ol/tilegrid.js'
import { hideBelow, isWorldHidden } from '../../../console/map/hide-below.ts'

const grid = createXYZ({ tileSize: 512 })
const [ZOOM, X, Y] = [10, 600, 350] as const
const at = (x: number, y: number) => grid.getTileCoordExtent([ZOOM, x, y])

describe('the base map below streets', () => {
  /** Streets in three tiles side by side, with a view as large as one of them. */
  function streets() {
    const [west = 0, south = 0] = at(X, Y)
    const [, , east = 0, north = 0] = at(X + 2, Y)
    const view = new View({ center: getCenter(at(X, Y)), resolution: grid.getResolution(ZOOM) })
    const map = Object.assign(new BaseObject(), { getView: () => view, getSize: () => [500, 500] })
    const source = new VectorTileSource({ tileGrid: grid })
    const layer = new VectorTileLayer({ source, extent: [west, south, east, north], minZoom: 8 })
    const closing = new AbortController()
    hideBelow(map as unknown as OlMap, layer, closing.signal)
    const load = (x: number, state: (typeof TileState)[keyof typeof TileState]) => {
      const tile = new Tile([ZOOM, x, Y], TileState.LOADING)
      source.dispatchEvent(new TileSourceEvent('tileloadstart', tile))
      tile.setState(state)
    }
    const look = (x: number, zoomedOut = 0) => {
      view.setCenter(getCenter(at(x, Y)))
      view.setResolution(grid.getResolution(ZOOM) * 2 ** zoomedOut)
      return isWorldHidden.value
    }
    return { closing, load, look }
  }

  test('the base map is hidden where streets cover the whole view, once they are loaded', () => {
    const { load, look, closing } = streets()
    expect(look(X + 1)).toBe(false)
    load(X, TileState.LOADED)
    expect([look(X), look(X + 1), look(X + 2)]).toEqual([true, true, true])
    closing.abort()
    expect(isWorldHidden.value).toBe(false)
  })

  test('the base map shows where the view reaches past the file’s area', () => {
    const { load, look } = streets()
    load(X, TileState.LOADED)
    expect([look(X - 1), look(X + 3), look(X + 1, 1), look(X + 1)]).toEqual([
      ...[false, false, false],
      true,
    ])
  })

  test.each([
    ['the file has no tile', TileState.EMPTY],
    ['a tile has failed to load', TileState.ERROR],
  ])('the base map shows where %s', (_, state) => {
    const { load, look } = streets()
    load(X, TileState.LOADED)
    load(X + 2, state)
    expect([look(X), look(X + 2)]).toEqual([true, false])
  })
})
