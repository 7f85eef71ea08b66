/* The steps of counting a tile, in the type of its entries. Nearness without error is compared in double, whatever
   the type of tiles, so the steps for double come first. */

#include "tiles.h"

#include "finding.h"
#include "transposing.h"
#include "placing.h"
#include "hiding.h"
#include "buckets.h"
#include "exact_counting.h"
#include "counting.h"
#include "keeping.h"
#include "sifting.h"
