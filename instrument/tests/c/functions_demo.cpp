// A program in C++ that knows nothing of measuring; built with -finstrument-functions.
#include <stdexcept>
#include <string>
#include <vector>

namespace radar {

class Tracker {
  public:
    explicit Tracker(int size) : tracks_(size) {}
    int update(int plot)
    {
        check(plot);
        return correlate(plot, "track");
    }
    int operator()(int plot) const
    {
        return tracks_[plot % tracks_.size()];
    }

  private:
    int correlate(int plot, const std::string &name)
    {
        tracks_[plot % tracks_.size()] += static_cast<int>(name.size());
        return (*this)(plot);
    }
    static void check(int plot)
    {
        if (plot < 0) {
            throw std::out_of_range("plot");
        }
    }
    std::vector<int> tracks_;
};

template <typename Value> Value largest(const std::vector<Value> &values)
{
    Value best = values[0];
    for (const auto &value : values) {
        best = best < value ? value : best;
    }
    return best;
}

} // namespace radar

namespace {
int hidden(int plot)
{
    return plot * 2;
}
} // namespace

int main()
{
    radar::Tracker tracker(4);
    int sum = tracker.update(1) + hidden(2);
    try {
        sum += tracker.update(-1);
    } catch (const std::out_of_range &) {
        sum += tracker.update(3);
    }
    return radar::largest<int>({1, sum, 2}) == 0;
}
