typedef struct {
    int64_t row;
    bool certain;
    Reals entries;
    Inner inner;
} OF(Outer);

KERNEL double OF(weighted)(OF(Outer) *outer, Reals weights)
{
    double sum = 0.0;
    for (int64_t i = 0; i < outer->entries.length; i++)
        for (int64_t j = 0; j < outer->entries.columns; j++)
            sum += AT(weights, j) * AT2(outer->entries, i, j);
    return sum + outer->row + (outer->certain ? outer->inner.share : 0.0) + AT(outer->inner.first, 1);
}

KERNEL void OF(put_weights)(OF(Outer) *outer, Reals weights)
{
    for (int64_t j = 0; j < weights.length; j++)
        AT(weights, j) = (REAL)outer->row;
}
